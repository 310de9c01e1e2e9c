# FLOWS one-way NewReno flows over one wired bottleneck for SECONDS: prints packets acknowledged, sent and sent again.
# The same work as crates/stack/examples/wired_flows.rs. Usage: ns ns2.tcl FLOWS SECONDS SEED
lassign $argv flows seconds seed
ns-random $seed
set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to 200Mb 50ms DropTail
$ns queue-limit $from $to 1000
$ns queue-limit $to $from 1000

Agent/TCP set window_ 64
Agent/TCP set packetSize_ 1000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set maxrto_ 60

for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    # Starts are spread over the first second.
    $ns at [expr {(($i + 1) * (7919 + $seed) % 10007) / 10007.0}] "$ftp start"
    set agents($i) $tcp
}

proc finish {} {
    global ns flows agents
    set acknowledged 0
    set sent 0
    set again 0
    for {set i 0} {$i < $flows} {incr i} {
        # The highest packet acknowledged; numbers begin with that of the SYN, 0.
        incr acknowledged [expr {max(0, [$agents($i) set ack_])}]
        incr sent [$agents($i) set ndatapack_]
        incr again [$agents($i) set nrexmitpack_]
    }
    puts "$acknowledged $sent $again"
    exit 0
}
$ns at $seconds finish
$ns run
