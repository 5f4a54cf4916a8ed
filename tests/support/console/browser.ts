import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import type { ConsoleFiles } from '#server';
import { builtConsole, bundleVerifiers } from '../../../packages/cli/src/files/built-console.ts';
import { type Starting, start, type TestServer } from '../server/serving.ts';
import { chromiumHere } from '../tools/browser/with-chromium.ts';

export interface Opening {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  /** Whether the page may show the first steps of a person. */
  readonly isFirst?: boolean;
  /** Runs before the page asks for anything. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** A server with the console, and browsers that are signed in. */
export interface ConsoleTest {
  serve(starting?: Starting): Promise<TestServer>;
  /** A page for a principal. An error of a script, or a blocked one, fails the test. */
  open(server: TestServer, principal: string, path: string, opening?: Opening): Promise<Page>;
  /** A page of a fresh browser profile. It fails the test in the same way. */
  blank(opening?: Opening): Promise<Page>;
  /** A page for a file, in a fresh profile without a network. Any request fails the test. */
  openOffline(path: string, opening?: Opening): Promise<Page>;
}

/** Tests with a real Chromium. Without one they are skipped, with the reason. */
export function withConsole(tests: (given: ConsoleTest) => void): void {
  const path = chromiumHere();
  const title = path === undefined ? 'the console (no Chromium here)' : 'the console';
  let browser: Browser | undefined;
  let files: ConsoleFiles | undefined;
  let verifiers: Starting['verifiers'];
  describe.skipIf(path === undefined)(title, () => {
    beforeAll(async () => {
      files = await builtConsole();
      verifiers = await bundleVerifiers();
      browser = await chromium.launch({ executablePath: path as string });
    });
    afterAll(() => browser?.close());
    const blank = async ({ scheme = 'light', width = 1280 }: Opening = {}): Promise<Page> => {
      const context = await (browser as Browser).newContext({
        colorScheme: scheme,
        viewport: { width, height: 800 },
        reducedMotion: 'reduce',
      });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const said = notedIn(page);
      onTestFinished(() => expect(said).toEqual([]));
      return page;
    };
    tests({
      blank,
      serve: (starting) => start({ ...starting, console: files, verifiers }),
      open: async (server, principal, at, opening) => {
        const page = await blank(opening);
        await signIn(page.context(), server, principal);
        if (opening?.isFirst !== true) await page.context().addInitScript(WITHOUT_STEPS);
        await opening?.before?.(page);
        await page.goto(server.url + at);
        return page;
      },
      openOffline: async (path, opening) => {
        const page = await blank(opening);
        await page.context().setOffline(true);
        const address = pathToFileURL(path).href;
        const asked: string[] = [];
        page.on('request', (request) => asked.push(request.url()));
        onTestFinished(() => expect(asked).toEqual([address]));
        await page.goto(address);
        return page;
      },
    });
  });
}

const WITHOUT_STEPS =
  "if (location.protocol.startsWith('http')) localStorage.setItem('assize-first-steps', 'off')";

async function signIn(
  context: BrowserContext,
  server: TestServer,
  principal: string,
): Promise<void> {
  const [name = '', value = ''] = (await server.cookieFor(principal)).split('=');
  await context.addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
}

/** Errors of scripts, and what the content security policy has blocked. */
function notedIn(page: Page): string[] {
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) said.push(message.text());
  });
  return said;
}

/** Shows a page in a colour scheme, and resolves when the page has applied it. */
export async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

/**
 * Runs in a page that may have the rules already. Colours change over some frames, and the
 * result is about the last one.
 */
const RUN = `(async () => {
  const changes = document.getAnimations().filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime));
  await Promise.allSettled(changes.map(({ finished }) => finished));
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
})()`;

/** Fails for each rule of accessibility that a page breaks, of any impact. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  expect(await page.evaluate(RUN)).toEqual([]);
}
