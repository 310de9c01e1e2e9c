import * as Plot from '@observablehq/plot';
import { PlotFigure } from '../app/PlotFigure';
import { Section } from '../app/parts';
import type { Campaign } from './CampaignView';

const HUES = ['serial', 'rto', 'prop', 'rlc', 'switch', 'window', 'repeat', 'setup'];
const SYMBOLS = ['circle', 'triangle', 'square', 'diamond2', 'star', 'plus', 'times', 'asterisk'] as const;
const GLYPHS = ['○', '△', '□', '◇', '☆', '+', '×', '∗'];

/** The metric over one key, a line per combination of the others, with 95 % intervals. */
export function Slices({ campaign }: { campaign: Campaign }) {
  const points = campaign.points.filter((point) => point.x !== null && point.mean.value !== null);
  const groups = [...new Set(points.map((point) => point.group))];
  const rows = points.map((point) => ({ ...point.mean, x: point.x, group: point.group }));
  const y = campaign.metric.unit ? `${campaign.metric.label} (${campaign.metric.unit})` : campaign.metric.label;
  return (
    <Section title={`${campaign.metric.label} over ${campaign.over.label}`} note="whiskers: 95 % intervals">
      <p class="key">
        {groups.map((group, i) => (
          <span key={group}>
            <i class={`line ${HUES[i % HUES.length]}`} />
            {GLYPHS[i % GLYPHS.length]} {group}
          </span>
        ))}
      </p>
      <PlotFigure
        label={`${y} over ${campaign.x_label}, ${groups.length} lines. The table below has the numbers.`}
        of={[campaign]}
        draw={(width, colour) =>
          Plot.plot({
            width,
            height: 320,
            className: 'figure',
            marginLeft: 56,
            x: { label: campaign.x_label, grid: true },
            y: { label: y, grid: true, zero: true },
            color: { domain: groups, range: HUES.map(colour) },
            symbol: { domain: groups, range: [...SYMBOLS] },
            marks: [
              Plot.ruleX(rows, { x: 'x', y1: 'low', y2: 'high', stroke: 'group' }),
              Plot.line(rows, { x: 'x', y: 'value', stroke: 'group', z: 'group' }),
              Plot.dot(rows, { x: 'x', y: 'value', stroke: 'group', symbol: 'group', fill: colour('bg') }),
            ],
          })
        }
      />
    </Section>
  );
}
