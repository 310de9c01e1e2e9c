import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Loaded } from './useLoaded';

/** A command that can be copied. */
export function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [text]);
  return (
    <div class="cmd">
      <code>{text}</code>
      <button
        type="button"
        class="noprint"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** A section with a heading and a remark. */
export function Section(props: { title: string; note?: ComponentChildren; class?: string; children: ComponentChildren }) {
  return (
    <section class={props.class ?? ''}>
      <header>
        <h2>{props.title}</h2>
        {props.note && <small>{props.note}</small>}
      </header>
      {props.children}
    </section>
  );
}

/** What stands in place of content: an error with a way to try again, or the word that it is loading. */
export function Waiting<T>({ of, what }: { of: Loaded<T>; what: string }) {
  if (of.error) {
    return (
      <p class="banner" role="alert">
        {of.error}{' '}
        <button type="button" onClick={of.again}>
          Try again
        </button>
      </p>
    );
  }
  return of.isLate ? <p class="small">Loading {what} …</p> : null;
}

/** A table that scrolls sideways where the screen is narrow. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint: a region that scrolls has to be reachable by keyboard
    <div class="wrap" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

/** The label of a column, and the class of its cell. */
export type Head = string | readonly [label: string, style: string];

/** A table with a head for each column. Its children are the rows. */
export function Table(props: { label: string; heads: readonly Head[]; children: ComponentChildren }) {
  return (
    <Wide label={props.label}>
      <table>
        <thead>
          <tr>
            {props.heads.map((head, i) => {
              const [label, style] = typeof head === 'string' ? [head] : head;
              return (
                <th key={i} scope="col" class={style}>
                  {label}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </Wide>
  );
}

/** Sets the title of the document. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} – umtslab` : 'umtslab';
  }, [title]);
}
