import type { Schemas } from '../api/client';
import { type CauseLook, usePage } from './context';

type Part = Schemas['Part'];

/** Patterns of all hatched causes. Their colours follow the theme. */
export function Hatches() {
  const { about } = usePage();
  const hatched = new Map(about.causes.filter((look) => look.hatch).map((look) => [`${look.hue}-${look.hatch}`, look]));
  return (
    <svg class="patterns" aria-hidden="true">
      <defs>
        {[...hatched].map(([id, { hue, hatch }]) => (
          <pattern key={id} id={`h-${id}`} width="6" height="6" patternUnits="userSpaceOnUse" {...turn(hatch)}>
            <rect width="6" height="6" fill={`var(--${hue})`} />
            <Marks hatch={hatch} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

/** The attribute that turns the lines of a pattern. */
function turn(hatch: string): { patternTransform?: string } {
  if (hatch === 'rising' || hatch === 'crossed') return { patternTransform: 'rotate(45)' };
  return hatch === 'falling' ? { patternTransform: 'rotate(-45)' } : {};
}

/** The lines or dots of a pattern, in the colour of the background. */
function Marks({ hatch }: { hatch: string }) {
  switch (hatch) {
    case 'dotted':
      return <circle cx="3" cy="3" r="1.4" fill="var(--bg)" />;
    case 'ringed':
      return <circle cx="3" cy="3" r="1.8" fill="none" stroke="var(--bg)" />;
    case 'plus':
    case 'crossed':
      return <path d="M0 3H6M3 0V6" stroke="var(--bg)" stroke-width="1.4" />;
    default:
      return <rect width="2" height="6" fill="var(--bg)" />;
  }
}

/** The colours and patterns of causes, by name. */
export function useLooks(): Map<string, CauseLook> {
  const { about } = usePage();
  return new Map(about.causes.map((look) => [look.name, look]));
}

/** The colour of a cause, or the address of its pattern. */
function fill(look: CauseLook | undefined): string {
  if (!look) return 'var(--idle)';
  return look.hatch ? `url(#h-${look.hue}-${look.hatch})` : `var(--${look.hue})`;
}

/** A square with the colour of a cause. */
export function Swatch({ cause }: { cause: string }) {
  const look = useLooks().get(cause);
  return (
    <svg class="sw" viewBox="0 0 12 12" aria-hidden="true">
      <rect x=".5" y=".5" width="11" height="11" fill={fill(look)} stroke={`var(--${look?.hue ?? 'idle'}-e)`} />
    </svg>
  );
}

/** A time budget as one bar. */
export function Bar({ parts, height, label }: { parts: Part[]; height: number; label: string }) {
  const looks = useLooks();
  const largest = parts.slice(0, 4).map((part) => `${part.label} ${part.share_text} %`);
  let from = 0;
  return (
    <svg class="bar" height={height} role="img" aria-label={`${label}: ${largest.join(', ')}`}>
      {parts.map((part) => {
        const x = from;
        from += part.share_pct;
        return (
          <rect key={part.cause} x={`${x}%`} width={`${part.share_pct}%`} height={height} fill={fill(looks.get(part.cause))}>
            <title>{`${part.label}: ${part.text}, ${part.share_text} %`}</title>
          </rect>
        );
      })}
      <rect class="frame" width="100%" height={height} />
    </svg>
  );
}

/** The causes of a time budget with their colours and times. */
export function Legend({ parts }: { parts: Part[] }) {
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part.cause}>
          <Swatch cause={part.cause} />
          {part.label} {part.text} s
        </li>
      ))}
    </ul>
  );
}
