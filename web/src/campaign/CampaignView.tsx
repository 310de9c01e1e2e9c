import { path, type Schemas } from '../api/client';
import { usePage } from '../app/context';
import { Section, Table, useTitle, Waiting } from '../app/parts';
import { go } from '../app/route';
import { useLoaded } from '../app/useLoaded';
import { HeatMap } from './HeatMap';
import { Slices } from './Slices';

export type Campaign = Schemas['CampaignPage'];

/** A campaign: one metric over one key, as slices, heat map and table. A point opens its runs. */
export function CampaignView({ name, query }: { name: string; query: URLSearchParams }) {
  const { live } = usePage();
  const metric = query.get('metric');
  const over = query.get('over');
  const asked = new URLSearchParams({ ...(metric && { metric }), ...(over && { over }) });
  const finished = live.jobs.filter((job) => job.state === 'done').length;
  const loaded = useLoaded<Campaign>(path`/api/campaigns/${name}` + `?${asked}`, finished);
  const campaign = loaded.content;
  useTitle(campaign?.title);
  if (!campaign) return <Waiting of={loaded} what="the campaign" />;
  const show = (changed: Record<string, string>) => {
    const next = new URLSearchParams({ metric: campaign.metric.name, over: campaign.over.key, ...changed });
    go(path`/campaign/${name}` + `?${next}`, 'replace');
  };
  return (
    <>
      <h1>{campaign.title}</h1>
      <p class="small">
        {campaign.name} · {campaign.points.length} points over {campaign.axes.map((axis) => axis.label).join(', ')} ·{' '}
        {campaign.runs} runs, seed {campaign.seed}
      </p>
      {campaign.missing > 0 && (
        <p class="note">
          {campaign.missing} of the points have no run yet: the campaign is running, was interrupted, or runs failed.
        </p>
      )}
      <Waiting of={loaded} what="the campaign" />
      <div class="bar2 noprint">
        <label for="metric">Metric</label>
        <select id="metric" value={campaign.metric.name} onChange={(event) => show({ metric: event.currentTarget.value })}>
          {campaign.metrics.map((metric) => (
            <option key={metric.name} value={metric.name}>
              {metric.label}
              {metric.unit && ` (${metric.unit})`}
            </option>
          ))}
        </select>
        <label for="over">Over</label>
        <select id="over" value={campaign.over.key} onChange={(event) => show({ over: event.currentTarget.value })}>
          {campaign.axes.map((axis) => (
            <option key={axis.key} value={axis.key}>
              {axis.label}
            </option>
          ))}
        </select>
      </div>
      <p class="small">{campaign.metric.meaning}</p>
      {campaign.points.some((point) => point.x !== null && point.mean.value !== null) && <Slices campaign={campaign} />}
      {campaign.axes.length > 1 && <HeatMap campaign={campaign} />}
      <Points campaign={campaign} />
    </>
  );
}

function Points({ campaign }: { campaign: Campaign }) {
  const unit = campaign.metric.unit && ` (${campaign.metric.unit})`;
  return (
    <Section title="Points" note="mean and 95 % interval over the runs; a run opens its page">
      <Table label="Points of the campaign" heads={[...campaign.axes.map((axis) => axis.label), ['n', 'n'], [`${campaign.metric.label}${unit}`, 'n'], 'Runs']}>
        {campaign.points.map((point) => (
          <tr key={point.at.join('\n')}>
            {point.at.map((value, i) => (
              <td key={campaign.axes[i]?.key}>{value}</td>
            ))}
            <td class="n">{point.mean.n}</td>
            <td class="n">{point.mean.text}</td>
            <td class="t runs">
              {point.runs.map((run) => (
                <a key={run.key} href={`/run/${run.key}`} aria-label={`Run ${run.run} of ${point.at.join(', ')}`}>
                  {run.run}
                </a>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
