const POINTS = 60;
const WIDTH = 120;
const HEIGHT = 18;

type Values = readonly (number | null)[];

/** Corners of a line. The newest value is at the right edge, and values without a number are left out. */
function lines(values: Values, most: number, width: number, height: number): string[] {
  const parts: string[][] = [[]];
  values.forEach((value, i) => {
    if (value === null) {
      parts.push([]);
      return;
    }
    const x = width - ((values.length - 1 - i) * width) / (POINTS - 1);
    const y = height - 1 - (most ? (value / most) * (height - 2) : 0);
    parts.at(-1)?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
  });
  return parts.filter((part) => part.length).map((part) => part.join(' '));
}

/** A line without axes, for a row of a table whose head names the scale. */
export function Sparkline({ values, most }: { values: Values; most: number }) {
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {lines(values, most, WIDTH, HEIGHT).map((points, i) => (
        <polyline key={i} points={points} />
      ))}
    </svg>
  );
}

interface ChartProps {
  title: string;
  unit: string;
  /** End of the newest point in seconds, and the time that the chart covers. */
  end: number | undefined;
  span: number;
  /** One or two curves by their names. */
  curves: Readonly<Record<string, readonly number[]>>;
  /** The upper end of the scale. */
  most: number;
}

const CHART_WIDTH = 480;
const CHART_HEIGHT = 80;

/** A chart with one scale for its curves. */
export function LineChart({ title, unit, end, span, curves, most }: ChartProps) {
  const named = Object.entries(curves);
  const newest = named.map(([name, values]) => `${name} ${values.at(-1)?.toLocaleString('en-GB') ?? 'nothing yet'}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <span>
          <b>{title}</b>, {unit}
        </span>
        <span class="key">
          {named.map(([name], i) => (
            <span key={name}>
              <i class={`line ${i ? 'ghost' : 'ink'}`} />
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title} in ${unit}: ${newest}`}>
        {[...named].reverse().map(([name, values]) =>
          lines(values, most, CHART_WIDTH, CHART_HEIGHT).map((points, i) => <polyline key={name + i} class={name === named[0]?.[0] ? '' : 'second'} points={points} />),
        )}
      </svg>
      <p class="ticks small">
        <span>{span} s ago</span>
        <span>
          0 to {most.toLocaleString('en-GB')} {unit}
        </span>
        <span>{end === undefined ? '' : `at ${end.toFixed(1)} s`}</span>
      </p>
    </figure>
  );
}
