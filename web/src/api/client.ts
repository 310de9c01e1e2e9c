import type { components } from './schema';

export type Schemas = components['schemas'];

/** A failed request, with the server's sentence. */
export class Failed extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const STOPPED = 'The server stopped. Start it: umts serve';

async function answer<T>(request: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Failed(0, STOPPED);
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  throw new Failed(response.status, sentence(text));
}

/** The sentence in an error's body: a text, or FastAPI's detail. */
function sentence(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
    if (Array.isArray(detail)) return detail.map((problem: { msg?: string }) => problem.msg).join('; ');
  } catch {
    // not JSON
  }
  return text.trim() || 'The server gave no answer.';
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answer<T>(fetch(path, signal ? { signal } : {}));
}

export function post<T>(path: string, content: unknown, signal?: AbortSignal): Promise<T> {
  const body = JSON.stringify(content);
  const headers = { 'content-type': 'application/json' };
  return answer<T>(fetch(path, { method: 'POST', body, headers, ...(signal ? { signal } : {}) }));
}

export function upload<T>(path: string, file: File): Promise<T> {
  const headers = { 'content-type': 'application/octet-stream' };
  return answer<T>(fetch(path, { method: 'POST', body: file, headers }));
}

/** A path with its parts escaped: path`/api/runs/${key}`. */
export function path(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
  return texts.reduce((whole, text, i) => whole + encodeURIComponent(parts[i - 1] ?? '') + text);
}
