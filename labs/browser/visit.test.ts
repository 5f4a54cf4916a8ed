import { expect, test } from 'vitest';
import { Origins } from './origins.ts';
import type { BrowserContext, BrowserPage } from './port.ts';
import { visit } from './visit.ts';

const never = (): Promise<never> => new Promise(() => undefined);

/** A browser with one page. Some of its deeds never end. */
function contextWith(hanging: Partial<BrowserPage>): BrowserContext {
  const page = {
    goto: async () => ({ status: () => 200 }),
    title: async () => 'shop',
    close: async () => undefined,
    on: () => undefined,
    ...hanging,
  } as unknown as BrowserPage;
  return {
    newPage: async () => page,
    on: () => undefined,
    route: async () => undefined,
    addInitScript: async () => undefined,
    routeWebSocket: async () => undefined,
  };
}

test.each<[string, Partial<BrowserPage>]>([
  ['tells its title', { title: never }],
  ['closes', { close: never }],
])('a page that never %s is not waited for, even by an aborted caller', async (_, hanging) => {
  const site = {
    context: async () => contextWith(hanging),
    origins: new Origins('browser', ['https://shop.example']),
    timeoutMs: 20,
  };
  const way = { url: new URL('https://shop.example/') };
  expect(
    await visit(site, way, { signal: new AbortController().signal }, async ({ status }) => status),
  ).toBe(200);
  const stop = new AbortController();
  const stopped = visit(site, way, stop, async () => {
    stop.abort();
    throw new Error('stopped');
  });
  await expect(stopped).rejects.toThrow('stopped');
});
