import { path, type Schemas } from '../api/client';
import { Command, Section, Table, useTitle, Waiting } from '../app/parts';
import { go } from '../app/route';
import { useLoaded } from '../app/useLoaded';

type Reproduction = Schemas['ReproductionPage'];

/** The claims of a document with their verdicts, and the document's numbers beside ours. */
export function ReproductionView({ paper, query }: { paper: string; query: URLSearchParams }) {
  const loaded = useLoaded<Reproduction>(path`/api/reproductions/${paper}`);
  const reproduction = loaded.content;
  useTitle(reproduction?.paper);
  if (!reproduction) return <Waiting of={loaded} what="the claims" />;
  const [verdict, word] = [query.get('verdict') ?? '', query.get('q') ?? ''];
  const show = (changed: Record<string, string>) => {
    const next = new URLSearchParams(Object.entries({ verdict, q: word, ...changed }).filter(([, value]) => value));
    go(path`/reproduction/${paper}` + (next.size ? `?${next}` : ''), 'replace');
  };
  const shown = reproduction.claims.filter(
    (claim) =>
      (!verdict || claim.verdict === verdict) && (!word || Object.values(claim).join(' ').toLowerCase().includes(word.toLowerCase())),
  );
  return (
    <>
      <h1>{reproduction.paper}</h1>
      <p class="small">
        {reproduction.claims.length} claims:{' '}
        {Object.entries(reproduction.totals)
          .map(([name, count]) => `${count} ${name}`)
          .join(', ')}
      </p>
      {!reproduction.has_verdicts && <p class="note">These claims were not reproduced in this store yet. Run the command below.</p>}
      {reproduction.is_quick && <p class="note">Some verdicts are of a quick reproduction with few runs: they are provisional.</p>}
      <Command text={reproduction.command} />
      <div class="find noprint" role="search">
        <input type="search" aria-label="Find a claim" placeholder="Find a claim" value={word} onInput={(event) => show({ q: event.currentTarget.value })} />
        <div class="kinds" role="group" aria-label="Verdict">
          {['', ...Object.keys(reproduction.totals)].map((choice) => (
            <button key={choice} type="button" aria-pressed={choice === verdict} onClick={() => show({ verdict: choice })}>
              {choice || 'All'}
            </button>
          ))}
        </div>
      </div>
      <p class="small" role="status">
        {shown.length === reproduction.claims.length ? '' : `${shown.length} of ${reproduction.claims.length} claims`}
      </p>
      <Section title="Claims">
        <Table label="Claims" heads={['Verdict', 'Claim', 'Document', 'Tolerance', 'Ours', 'Reason']}>
          {shown.map((claim) => (
            <tr key={claim.id}>
              <td class={claim.verdict.replace(/ /g, '-')}>{claim.verdict}</td>
              <td class="t">
                {claim.statement}
                <br />
                <span class="small">
                  {claim.where} · <code>{claim.id}</code> · {claim.confidence}
                </span>
              </td>
              <td class="t">
                {claim.metric}: {claim.expected}
              </td>
              <td>{claim.tolerance}</td>
              <td class="t">{claim.ours}</td>
              <td class="t small">{claim.reason}</td>
            </tr>
          ))}
        </Table>
      </Section>
    </>
  );
}
