import * as Plot from '@observablehq/plot';
import { path, type Schemas } from '../api/client';
import { PlotFigure } from '../app/PlotFigure';
import { Command, Section, Table, useTitle, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';

type Study = Schemas['StudyPage'];

/** An optimisation or a sensitivity study: what mattered, the front, and all trials. */
export function StudyView({ name }: { name: string }) {
  const loaded = useLoaded<Study>(path`/api/studies/${name}`);
  const study = loaded.content;
  useTitle(study?.title);
  if (!study) return <Waiting of={loaded} what="the study" />;
  return (
    <>
      <h1>{study.title}</h1>
      <p class="small">
        {study.name} · {study.method}
      </p>
      <p>{study.result}</p>
      {study.charts.map((chart) => (
        <Bars key={chart.title} chart={chart} />
      ))}
      {study.front.length > 0 && <Front study={study} />}
      <Section title="All results">
        <Table label="Table of the study" heads={study.table.heads}>
          {study.table.rows.map((row) => (
            <tr key={row.join('\n')}>
              {row.map((value, i) => (
                <td key={study.table.heads[i]}>{value}</td>
              ))}
            </tr>
          ))}
        </Table>
      </Section>
      {study.command && (
        <Section title="Run the best again">
          <Command text={study.command} />
        </Section>
      )}
    </>
  );
}

/** A bar per parameter or metric, with its 95 % interval. */
function Bars({ chart }: { chart: Schemas['BarChart'] }) {
  const spoken = chart.bars.map((bar) => `${bar.label} ${bar.text}`).join('; ');
  return (
    <Section title={chart.title} note={chart.unit}>
      <PlotFigure
        label={spoken}
        of={[chart]}
        draw={(width, colour) =>
          Plot.plot({
            width,
            height: 48 + 28 * chart.bars.length,
            className: 'figure',
            marginLeft: Math.min(200, width * 0.4),
            marginRight: 88,
            x: { label: chart.unit || null, grid: true },
            y: { domain: chart.bars.map((bar) => bar.label), label: null },
            marks: [
              Plot.axisY({ label: null, lineWidth: width < 500 ? 10 : 30 }),
              Plot.barX(chart.bars, { x: 'value', y: 'label', fill: colour('serial'), inset: 4 }),
              Plot.ruleY(chart.bars, { x1: 'low', x2: 'high', y: 'label', stroke: colour('ink') }),
              Plot.text(chart.bars, {
                x: (bar: { value: number; high: number | null }) => bar.high ?? bar.value,
                y: 'label',
                text: 'text',
                dx: 6,
                textAnchor: 'start',
              }),
            ],
          })
        }
      />
    </Section>
  );
}

/** The trials of an optimisation by their objective and the metric that a constraint bounds. */
function Front({ study }: { study: Study }) {
  return (
    <Section title="Objective against what is bounded" note="filled: no other trial is better in both; crosses break a constraint">
      <PlotFigure
        label={`${study.front_y} against ${study.front_x} of ${study.front.length} trials. The table below has the numbers.`}
        of={[study]}
        draw={(width, colour) =>
          Plot.plot({
            width,
            height: 320,
            className: 'figure',
            marginLeft: 56,
            x: { label: study.front_x, grid: true },
            y: { label: study.front_y, grid: true },
            marks: [
              Plot.line(
                study.front.filter((trial) => trial.is_on_front),
                { x: 'x', y: 'y', stroke: colour('ghost'), sort: 'x' },
              ),
              Plot.dot(study.front, {
                x: 'x',
                y: 'y',
                symbol: (trial: { is_feasible: boolean }) => (trial.is_feasible ? 'circle' : 'times'),
                stroke: colour('ink'),
                fill: (trial: { is_on_front: boolean }) => (trial.is_on_front ? colour('serial') : 'none'),
                title: (trial: { trial: string }) => `trial ${trial.trial}`,
              }),
            ],
          })
        }
      />
    </Section>
  );
}
