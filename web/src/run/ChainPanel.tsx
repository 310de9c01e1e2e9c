import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client';
import { useLooks } from '../app/causes';

export type Chain = Schemas['Chain'];

interface Props {
  chain: Chain;
  link: number | undefined;
  chooseLink: (index: number) => void;
  close: () => void;
}

/** A chain of causes: the effect first, its first cause last. A link moves the time line to its time. */
export function ChainPanel({ chain, link, chooseLink, close }: Props) {
  return (
    <aside class="panel" aria-label="Chain of causes">
      <div class="head">
        <h3 id="chain" tabIndex={-1}>
          {chain.title}
        </h3>
        <button type="button" class="plain noprint" aria-label="Close the chain of causes" onClick={close}>
          ✕
        </button>
      </div>
      <p class="small">
        UE {chain.ue}, connection {chain.connection}: {chain.label_text}
      </p>
      <h4>Caused by</h4>
      <ol class="chain" aria-label="Links of the chain">
        {chain.links.map((entry, index) => (
          <LinkRow key={index} entry={entry} isOpen={index === link} choose={() => chooseLink(index)} />
        ))}
      </ol>
      {chain.also.length > 0 && (
        <>
          <h4>Also in this time</h4>
          <ul class="also">
            {chain.also.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      <CopyChain chain={chain} />
    </aside>
  );
}

function LinkRow({ entry, isOpen, choose }: { entry: Chain['links'][number]; isOpen: boolean; choose: () => void }) {
  const look = useLooks().get(entry.cause ?? '');
  return (
    <li style={look ? { borderLeftColor: `var(--${look.hue})` } : {}}>
      <button type="button" aria-pressed={isOpen} onClick={choose}>
        <span class="at">
          <b>
            {entry.instant}
            {entry.is_first_cause && ' · first cause'}
          </b>
          {entry.clause && <span>{entry.clause}</span>}
        </span>
        {entry.text}
        {entry.identity_text && <span class="id">{entry.identity_text}</span>}
      </button>
    </li>
  );
}

function CopyChain({ chain }: { chain: Chain }) {
  const [copied, setCopied] = useState('');
  const text = [
    `${chain.title}, UE ${chain.ue}, connection ${chain.connection}: ${chain.label_text}`,
    ...chain.links.map((entry, i) => `${i ? '← ' : ''}${entry.instant}  ${entry.text}${entry.clause ? `  [${entry.clause}]` : ''}`),
    ...(chain.also.length ? [`also in this time: ${chain.also.join('; ')}`] : []),
  ].join('\n');
  return (
    <>
      <p class="bar2 noprint">
        <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(chain.id))}>
          {copied === chain.id ? 'Copied' : 'Copy as text'}
        </button>
      </p>
      <p class="small">
        The same in a terminal: <code>{chain.command}</code>
      </p>
    </>
  );
}
