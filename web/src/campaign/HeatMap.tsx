import * as Plot from '@observablehq/plot';
import { PlotFigure } from '../app/PlotFigure';
import { Section } from '../app/parts';
import type { Campaign } from './CampaignView';

/** The metric by the values of one key and of the combination of the others. */
export function HeatMap({ campaign }: { campaign: Campaign }) {
  const at = campaign.axes.findIndex((axis) => axis.key === campaign.over.key);
  const rows = campaign.points
    .filter((point) => point.mean.value !== null)
    .map((point) => ({ x: point.at[at], group: point.group, value: point.mean.value, text: point.mean.text.split(' ')[0] }));
  const groups = [...new Set(rows.map((row) => row.group))];
  return (
    <Section title="Heat map" note={`${campaign.metric.label}, means`}>
      <PlotFigure
        label={`${campaign.metric.label} by ${campaign.over.label} and the other keys. The table below has the numbers.`}
        of={[campaign]}
        draw={(width, colour) =>
          Plot.plot({
            width,
            height: 60 + 26 * groups.length,
            className: 'figure',
            marginLeft: 110,
            marginBottom: 36,
            x: { domain: campaign.over.values, label: campaign.over.label },
            y: { domain: groups, label: null },
            color: { type: 'linear', range: [colour('bg'), colour('ghost')] },
            marks: [
              Plot.cell(rows, { x: 'x', y: 'group', fill: 'value', stroke: colour('line2'), inset: 1 }),
              Plot.text(rows, { x: 'x', y: 'group', text: 'text' }),
            ],
          })
        }
      />
    </Section>
  );
}
