import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { StreamLanguage, syntaxHighlighting, HighlightStyle } from '@codemirror/language';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import type { Mistake } from './TryView';

interface Props {
  text: string;
  isChanged: boolean;
  change: (text: string) => void;
  reset: () => void;
  mistakes: Mistake[];
}

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--mute)' },
  { tag: tags.string, color: 'var(--serial-e)' },
  { tag: tags.propertyName, color: 'var(--ink)' },
  { tag: tags.heading, fontWeight: '600' },
]);

const look = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--ink)', backgroundColor: 'var(--bg)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--mute)', border: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  // The usual mark is an image in a data: address, which the page's policy refuses.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--err)' },
  '.cm-tooltip': { backgroundColor: 'var(--bg)', color: 'var(--ink)', border: '1px solid var(--line2)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--sel) !important' },
});

/**
 * The scenario's file. It lives in a shadow root, where CodeMirror uses constructed style sheets: the
 * page's policy refuses style elements.
 */
export function Editor({ text, isChanged, change, reset, mistakes }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  useEffect(() => {
    if (!holder.current) return;
    const root = holder.current.shadowRoot ?? holder.current.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        StreamLanguage.define(toml),
        syntaxHighlighting(colours),
        look,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': 'Scenario file' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change(update.state.doc.toString());
        }),
      ],
    });
    const opened = new EditorView({ state, parent: root, root });
    view.current = opened;
    return () => opened.destroy();
  }, []);
  useEffect(() => {
    const { current } = view;
    if (!current || current.state.doc.toString() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const { current } = view;
    if (!current) return;
    const found = mistakes.flatMap((mistake): Diagnostic[] => {
      if (mistake.line === null || mistake.line > current.state.doc.lines) return [];
      const line = current.state.doc.line(mistake.line);
      const from = Math.min(line.to, line.from + Math.max(0, (mistake.column ?? 1) - 1));
      return [{ from, to: line.to, severity: 'error', message: mistake.message }];
    });
    current.dispatch(setDiagnostics(current.state, found));
  }, [mistakes]);
  return (
    <section>
      <header>
        <h2>File</h2>
        <small>Changes here are not saved. Esc, then Tab leaves the editor.</small>
        <button type="button" disabled={!isChanged} onClick={reset}>
          Reset the file
        </button>
      </header>
      <div class="editor" ref={holder} />
    </section>
  );
}
