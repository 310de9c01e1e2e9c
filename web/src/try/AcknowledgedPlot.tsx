import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { axes, Chart } from '../app/Chart';
import type { Tried } from './TryView';

const stepped = uPlot.paths.stepped?.({ align: 1 });

/** Acknowledged data over time, now and before, with the timeouts at the bottom. */
export function AcknowledgedPlot({ now, before }: { now: Tried; before: Tried | undefined }) {
  const data = useMemo(() => {
    const curve = ({ acknowledged }: Tried): uPlot.AlignedData => [acknowledged.time_s, acknowledged.kilobytes];
    const timeouts: uPlot.AlignedData = [now.timeouts_s, now.timeouts_s.map(() => 0)];
    return uPlot.join([...(before ? [curve(before)] : []), curve(now), timeouts]);
  }, [now, before]);
  const label = `Acknowledged data over ${now.duration_s} s: ${now.acknowledged.kilobytes.at(-1) ?? 0} kB at the end, ${now.timeouts_s.length} timeouts`;
  return (
    <Chart
      label={label}
      height={300}
      data={data}
      options={(colour) => {
        const line = (name: string): uPlot.Series => ({
          stroke: colour(name),
          width: 2,
          spanGaps: true,
          points: { show: false },
          ...(stepped && { paths: stepped }),
        });
        const timeouts: uPlot.Series = { stroke: colour('rto-e'), paths: () => null, points: { show: true, paths: triangles } };
        return {
          legend: { show: false },
          cursor: { show: false },
          scales: { x: { time: false, range: [0, now.duration_s] }, y: { range: (_, __, high) => [0, high * 1.05 || 1] } },
          axes: axes(colour, 's', ''),
          series: [{}, ...(before ? [line('ghost')] : []), line('ink'), timeouts],
        };
      }}
    />
  );
}

/** Triangles instead of points. */
const triangles: uPlot.Series.Points.PathBuilder = (plot, index, first, last, filtered) => {
  const path = new Path2D();
  const [times = [], values] = [plot.data[0], plot.data[index]];
  const size = 4 * devicePixelRatio;
  for (let i = first; i <= last; i++) {
    const value = values?.[i];
    if (value === null || value === undefined || (filtered && !filtered.includes(i))) continue;
    const x = plot.valToPos(times[i] ?? 0, 'x', true);
    const y = plot.valToPos(value, 'y', true) - size;
    path.moveTo(x, y - size);
    path.lineTo(x + size, y + size);
    path.lineTo(x - size, y + size);
    path.closePath();
  }
  return { fill: path, stroke: path };
};
