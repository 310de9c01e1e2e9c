import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { usePage } from './context';

interface Props {
  /** Describes the chart in words. */
  label: string;
  height: number;
  data: uPlot.AlignedData;
  /** The series, axes and so on, in the colours of the theme. */
  options: (colour: (name: string) => string) => Omit<uPlot.Options, 'width' | 'height'>;
}

/** A chart over time by uPlot. */
export function Chart({ label, height, data, options }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  const { theme } = usePage();
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const plot = new uPlot({ ...options(colour), width: element.clientWidth || 300, height }, data, element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth || 300, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, theme, height]);
  return <div ref={holder} role="img" aria-label={label} />;
}

/** Axes in the colours of the theme. */
export function axes(colour: (name: string) => string, x: string, y: string): uPlot.Axis[] {
  const common: uPlot.Axis = {
    stroke: colour('mute'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { stroke: colour('grid'), width: 1 },
    font: '11px system-ui, sans-serif',
    labelFont: '11px system-ui, sans-serif',
    labelSize: 16,
  };
  return [
    { ...common, label: x, size: 28 },
    { ...common, label: y, size: 52 },
  ];
}
