import { useEffect, useRef } from 'preact/hooks';
import { usePage } from './context';

interface Props {
  label: string;
  /** Draws the figure for a width, in the colours of the theme. */
  draw: (width: number, colour: (name: string) => string) => Element;
  /** The figure is drawn again when one of these changes. */
  of: readonly unknown[];
}

/** A figure by Observable Plot. */
export function PlotFigure({ label, draw, of }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  const { theme } = usePage();
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const redraw = () => {
      const figure = draw(Math.min(760, element.clientWidth || 300), colour);
      // The page's policy refuses style elements. The rules are in style.css.
      for (const sheet of figure.querySelectorAll('style')) sheet.remove();
      // The label of the whole figure says it. Groups without a role must not have one.
      for (const part of figure.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
      element.replaceChildren(figure);
    };
    redraw();
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) {
        width = element.clientWidth;
        redraw();
      }
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [theme, ...of]);
  return <div class="plot" ref={holder} role="img" aria-label={label} />;
}
