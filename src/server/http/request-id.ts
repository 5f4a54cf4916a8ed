import { randomUUID } from 'node:crypto';

const ids = new WeakMap<Request, string>();

/** The id of a request, for its log lines and its problem document. Never a value of the client. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request) ?? randomUUID();
  ids.set(request, known);
  return known;
}
