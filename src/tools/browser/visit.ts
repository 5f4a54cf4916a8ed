import { type Call, DidNothing } from '#effects';
import { type Answered, Gate, Gates } from './gate.ts';
import type { Origins } from './origins.ts';
import type { BrowserContext, BrowserPage } from './port.ts';
import { type Field, fill, only, type Target } from './target.ts';
import { within } from './within.ts';

/** What tools of one browser have in common. */
export interface Site {
  readonly context: () => Promise<BrowserContext>;
  readonly origins: Origins;
  /** Of each step that waits for the page. */
  readonly timeoutMs: number;
}

/** A page that is open for one call. */
export interface Visit {
  readonly page: BrowserPage;
  readonly gate: Gate;
  /** Of the document that was asked for. */
  readonly status: number;
  /** What dialogs have said. */
  readonly dialogs: readonly string[];
}

export interface Way {
  readonly url: URL;
  /** Filled in, in their order. */
  readonly fields?: readonly Field[];
  /** Then pressed. The page may do what it likes, but sends nothing that does more than read. */
  readonly clicks?: readonly Target[];
  /** What is answered to dialogs. By default they are dismissed. */
  readonly dialogs?: 'accept' | 'dismiss' | undefined;
}

/**
 * Opens a page for one use, fills it in, and closes it whatever comes of that. It may send what only reads, to origins that are
 * allowed. Downloads are cancelled and popups closed.
 *
 * @throws DidNothing where the page could not be had so; what `use` throws
 */
export async function visit<T>(
  site: Site,
  way: Way,
  { signal }: Pick<Call, 'signal'>,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const gate = new Gate(site.origins, site.timeoutMs);
  const { page, gates } = await untouched(() => opened(site, gate, signal));
  const dialogs: string[] = [];
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    gate.close();
    ended ??= within(site.timeoutMs, left(page, site.timeoutMs))
      .catch(ignored)
      .finally(() => gates.delete(page));
    return ended;
  };
  // Whoever is told to stop finds the page gone.
  const onAbort = (): void => void end();
  signal.addEventListener('abort', onAbort);
  try {
    listen(page, dialogs, way.dialogs ?? 'dismiss');
    const status = await untouched(() => {
      signal.throwIfAborted();
      return arrived(page, gate, way, site.timeoutMs);
    }, gate);
    return await use({ page, gate, status, dialogs });
  } finally {
    signal.removeEventListener('abort', onAbort);
    await end();
  }
}

async function opened(
  { context: contextOf }: Site,
  gate: Gate,
  signal: AbortSignal,
): Promise<{ readonly page: BrowserPage; readonly gates: Gates }> {
  signal.throwIfAborted();
  const context = await contextOf();
  const gates = await Gates.in(context);
  return { page: await gates.open(context, gate), gates };
}

/**
 * A browser lets go what it has held back of a page that is closed. So the page, whose gate is closed, is asked something first, by
 * which what it had sent has come to the gate; then it is left, by which it gives up what it waits for; then closed. What hangs may never
 * be: nobody waits for it, and without a gate it sends nothing.
 */
async function left(page: BrowserPage, timeout: number): Promise<void> {
  await within(timeout, page.title()).catch(ignored);
  await page.goto('about:blank', { timeout, waitUntil: 'load' }).catch(ignored);
  await page.close({ runBeforeUnload: false }).catch(ignored);
}

function ignored(): void {}

function listen(page: BrowserPage, dialogs: string[], answer: 'accept' | 'dismiss'): void {
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message().slice(0, DIALOG_MAX));
    return dialog[answer]().catch(ignored);
  });
  page.on('download', (download) => download.cancel().catch(ignored));
}

const DIALOG_MAX = 1_000;

async function arrived(page: BrowserPage, gate: Gate, way: Way, timeout: number): Promise<number> {
  const status = await goTo(page, gate, way.url.href, timeout);
  for (const field of way.fields ?? []) await fill(page, field, timeout);
  for (const target of way.clicks ?? []) {
    await (await only(page, target, timeout)).click({ timeout });
    const { next } = gate.last ?? {};
    if (next !== undefined) await goTo(page, gate, next, timeout);
  }
  return status;
}

const HOPS_MAX = 10;

/** Goes to a page, and on to where it leads, and tells how the last one answered. @throws an error of the page */
export async function goTo(page: BrowserPage, gate: Gate, url: string, timeout: number): Promise<number> {
  for (let [hops, to] = [0, url]; hops < HOPS_MAX; hops++) {
    gate.requireAllowed(to);
    gate.last = undefined;
    let failure: unknown;
    const response = await page.goto(to, { timeout, waitUntil: 'load' }).catch((error: unknown) => {
      failure = error;
      return null;
    });
    const last = gate.last as Answered | undefined;
    if (last?.next === undefined) {
      if (failure !== undefined) throw failure;
      return response?.status() ?? 0;
    }
    to = last.next;
  }
  throw new Error(`it leads on and on, the last time to ${page.url()}`);
}

/** Whatever goes wrong before anything may act, nothing was done. */
export async function untouched<T>(make: () => Promise<T>, gate?: Gate): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    if (cause instanceof DidNothing) throw cause;
    const what = gate?.refused.at(-1) ?? (cause instanceof Error ? firstLine(cause.message) : 'no page could be had');
    throw new DidNothing(what, { final: (gate?.refused.length ?? 0) > 0, cause });
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.replace(/\.$/, '');
}
