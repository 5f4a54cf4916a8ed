import { contentHash } from 'assize/internal/canon';

/** A name of a server that rules can name. */
export function serverName(text: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_:@-]{0,99}$/.test(text) ? text : unnamed(text);
}

/** A name of a tool that rules can name. */
export function toolName(text: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$/.test(text) ? text : unnamed(text);
}

function unnamed(text: string): string {
  return `unnamed-${contentHash(text).slice(0, 16)}`;
}
