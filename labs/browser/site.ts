import { callback, invalidTool } from '@assize/tools/internal/options.ts';
import { z } from 'zod';
import { Origins } from './origins.ts';
import type { BrowserContext } from './port.ts';
import type { Site } from './visit.ts';

/** The site and the browser context of the tools. */
export interface SiteOptions {
  /** A browser context that no other code uses, or a function that returns one at each call. */
  readonly context: BrowserContext | (() => BrowserContext | Promise<BrowserContext>);
  /**
   * Origins that a page may belong to and load from: `https://shop.example`. All other origins get
   * no request.
   */
  readonly allow: readonly string[];
  /** Time limit of each page step, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;

/** The option fields that describe the site. */
export const SITE = {
  context: z.union([
    callback,
    z.custom<BrowserContext>(
      (value) => typeof (value as BrowserContext | null | undefined)?.newPage === 'function',
      'a browser context with newPage',
    ),
  ]),
  allow: z.array(z.string()),
  timeoutMs: z
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1)
    .optional(),
};

/** @throws EffectError `invalid_tool` */
export function siteOf(
  tool: string,
  { context, allow, timeoutMs = TIMEOUT_MS }: SiteOptions,
): Site {
  const made = typeof context === 'function' ? context : () => context;
  return {
    context: async () => {
      const found = await made();
      if (typeof found?.newPage !== 'function')
        throw invalidTool(tool, 'its context is not a browser context');
      return found;
    },
    origins: new Origins(tool, allow),
    timeoutMs,
  };
}
