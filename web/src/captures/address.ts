import { go } from '../app/route';

/** Names of the graphs in the address, and as in Wireshark's menu of TCP stream graphs. */
export const GRAPHS = {
  stevens: 'Time Sequence (Stevens)',
  tcptrace: 'Time Sequence (tcptrace)',
  throughput: 'Throughput',
  rtt: 'Round Trip Time',
  window: 'Window Scaling',
} as const;

export type Graph = keyof typeof GRAPHS;

/** The visible part of a capture. The address holds it, as in `&c=3&graph=rtt&first=151&packet=156`. */
export interface Shown {
  connection?: number;
  graph?: Graph;
  /** The packet or the time, in seconds, at which the ladder begins. Without both: packet 1. */
  first?: number;
  time?: number;
  /** The packet that was searched for. It is marked. */
  packet?: number;
}

/** Reads the visible part from an address. Values that cannot be right are ignored. */
export function shownIn(query: URLSearchParams): Shown {
  const shown: Shown = {};
  const connection = count(query.get('c'));
  if (connection !== undefined) shown.connection = connection;
  const graph = query.get('graph');
  if (graph !== null && Object.hasOwn(GRAPHS, graph)) shown.graph = graph as Graph;
  const [first, packet] = [count(query.get('first')), count(query.get('packet'))];
  const text = query.get('from');
  const time = text ? Number(text) : Number.NaN;
  if (first) shown.first = first;
  else if (Number.isFinite(time) && time >= 0) shown.time = time;
  if (packet) shown.packet = packet;
  return shown;
}

function count(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Adds a visible part of the current capture to the browser's history, and shows it. */
export function show(shown: Shown): void {
  const query = new URLSearchParams(location.search);
  const values = { c: shown.connection, graph: shown.graph, first: shown.first, from: shown.time, packet: shown.packet };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  const address = `/captures?${query}`;
  if (address !== location.pathname + location.search) go(address);
}
