import { apiScope } from '@assize/tools/internal/http/url.ts';
import { invalidTool } from '@assize/tools/internal/options.ts';
import { EffectError } from 'assize/internal/effects';

/** The allowed origins of a browser: `https://shop.example`, `http://127.0.0.1:8080`. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @throws EffectError `invalid_tool` */
  constructor(tool: string, allow: readonly string[]) {
    this.#allowed = new Set(allow.map((text) => originOf(tool, text)));
    if (this.#allowed.size === 0)
      throw invalidTool(tool, 'allow is empty. Name the allowed origins');
  }

  get all(): readonly string[] {
    return [...this.#allowed];
  }

  has(url: string): boolean {
    const read = URL.parse(url);
    return read !== null && this.#allowed.has(read.origin);
  }

  /** A URL of an allowed origin, in normal form. @throws EffectError `bad_input` */
  url(text: string): URL {
    const url = URL.parse(text);
    if (url === null) throw badInput('the text is not a URL');
    if (url.username !== '' || url.password !== '')
      throw badInput('a URL must not have a user or a password');
    if (!this.#allowed.has(url.origin)) throw badInput(`${url.origin} is not an allowed origin`);
    return url;
  }
}

/**
 * The page that a URL names, as a scope: `web:host:/path`, or `web:host:port:/path`. One page has
 * one name for every spelling of its URL. Query and fragment are not part of the name.
 *
 * @throws EffectError `bad_input`
 */
export function webScope(url: string | URL): string {
  return apiScope(url).replace(/^api:/, 'web:');
}

function originOf(tool: string, text: string): string {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}/` === url.href &&
    !text.endsWith('/');
  if (isOrigin) return url.origin;
  throw invalidTool(
    tool,
    `allow has ${JSON.stringify(text)}, but that is not an origin. Write it like https://shop.example`,
  );
}

function badInput(what: string): EffectError {
  return new EffectError('bad_input', `The page cannot be opened: ${what}.`);
}
