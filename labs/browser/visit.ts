import { isInstance } from 'assize/internal/base';
import { type CallContext, DidNothing } from 'assize/internal/effects';
import { type DocumentResponse, Gate, Gates } from './gate.ts';
import type { Origins } from './origins.ts';
import type { BrowserContext, BrowserPage } from './port.ts';
import { type Field, fill, only, type Target } from './target.ts';
import { within } from './within.ts';

/** The settings that tools of one browser share. */
export interface Site {
  readonly context: () => Promise<BrowserContext>;
  readonly origins: Origins;
  /** Time limit of each step that waits for the page, in milliseconds. */
  readonly timeoutMs: number;
}

/** A page that is open for one call. */
export interface Visit {
  readonly page: BrowserPage;
  readonly gate: Gate;
  /** The status of the requested document. */
  readonly status: number;
  /** The messages of the dialogs. */
  readonly dialogs: readonly string[];
}

export interface VisitPlan {
  readonly url: URL;
  /** Fields to fill in, in order. */
  readonly fields?: readonly Field[];
  /** Elements to press afterwards. The page may react, but it sends only requests that read. */
  readonly clicks?: readonly Target[];
  /** The answer to dialogs. Default: dialogs are dismissed. */
  readonly dialogs?: 'accept' | 'dismiss' | undefined;
}

/**
 * Opens a page for one use, fills it in, and always closes it. The page may send only requests that
 * read, to allowed origins. Downloads are cancelled and popups closed.
 *
 * @throws DidNothing if the page was unavailable; the errors of `use`
 */
export async function visit<T>(
  site: Site,
  way: VisitPlan,
  { signal }: Pick<CallContext, 'signal'>,
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
  // An abort closes the page, so the waiting step fails.
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
 * A browser releases the held requests of a page when the page closes. The page's gate is closed,
 * so the page gets a query first. It flushes the page's sent requests to the gate. Then the page
 * navigates away, to cancel its pending requests, and is closed. A page that does not respond
 * may never close. No code waits for that page, and it sends nothing without a gate.
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

async function arrived(
  page: BrowserPage,
  gate: Gate,
  way: VisitPlan,
  timeout: number,
): Promise<number> {
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

/**
 * Goes to a page, follows its redirections, and returns the last answer.
 * @throws an error of the page
 */
export async function goTo(
  page: BrowserPage,
  gate: Gate,
  url: string,
  timeout: number,
): Promise<number> {
  for (let [hops, to] = [0, url]; hops < HOPS_MAX; hops++) {
    gate.requireAllowed(to);
    gate.last = undefined;
    let failure: unknown;
    const response = await page.goto(to, { timeout, waitUntil: 'load' }).catch((error: unknown) => {
      failure = error;
      return null;
    });
    const last = gate.last as DocumentResponse | undefined;
    if (last?.next === undefined) {
      if (failure !== undefined) throw failure;
      return response?.status() ?? 0;
    }
    to = last.next;
  }
  throw new Error(`the page redirects too often, the last time to ${page.url()}`);
}

/** Converts every error before the page may act into an error that reports no effect. */
export async function untouched<T>(make: () => Promise<T>, gate?: Gate): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    if (isInstance(cause, DidNothing)) throw cause;
    const what =
      gate?.refused.at(-1) ??
      (isInstance(cause, Error) ? firstLine(cause.message) : 'the page could not be opened');
    throw new DidNothing(what, { final: (gate?.refused.length ?? 0) > 0, cause });
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.replace(/\.$/, '');
}
