import { type Call, DidNothing } from '#effects';
import { type Answered, type Gate, isReading } from './gate.ts';
import type { BrowserLocator, BrowserPage } from './port.ts';
import { type PageSeen, seenOn } from './seen.ts';
import { located, named, only, type Target } from './target.ts';
import { goTo, type Site, untouched, type Visit, visit, type Way } from './visit.ts';
import { within } from './within.ts';

/** A form, as it is to be sent. */
export interface Submission extends Way {
  readonly button: Target;
  /** What the page shows when it was done. By default any answer of 2xx says so. */
  readonly done?: Target | undefined;
  /** What the page shows when it was refused, and nothing was done. */
  readonly refused?: Target | undefined;
}

/**
 * Fills a form in and sends it, once. Until the button is pressed nothing but reads gets out of the page, and after that what goes out
 * is counted: so where nothing did, nothing was done, for certain.
 *
 * @throws DidNothing where nothing was sent, or the page says that nothing was done; another error where nobody can tell
 */
export async function submit<T>(
  site: Site,
  submission: Submission,
  call: Pick<Call, 'signal'>,
  answer: (seen: PageSeen) => Promise<T>,
): Promise<T> {
  const { timeoutMs } = site;
  return visit(site, submission, call, async ({ page, gate, dialogs }) => {
    try {
      const button = await untouched(() => pressable(page, submission, timeoutMs), gate);
      gate.act();
      const status = await pressed({ page, gate }, submission, button, timeoutMs);
      gate.look();
      return await answer(seenOn(page, status, timeoutMs));
    } catch (error) {
      // From here on nothing gets out, so what has not yet never will.
      gate.close();
      if (error instanceof DidNothing || gate.sent > 0) throw error;
      const why = [gate.refused.at(-1), dialogs.at(-1) === undefined ? undefined : `a dialog said ${dialogs.at(-1)}`];
      throw new DidNothing(`nothing was sent: ${why.find((one) => one !== undefined) ?? (error as Error).message}`, {
        final: gate.refused.length > 0,
        cause: error,
      });
    }
  });
}

async function pressable(page: BrowserPage, { button, done, refused }: Submission, timeout: number) {
  for (const mark of [done, refused])
    if (mark !== undefined && (await isVisible(page, mark, timeout)))
      throw new DidNothing(`${named(mark)} is there before anything was done`, { final: true });
  const element = await only(page, button, timeout);
  await element.click({ timeout, trial: true });
  return element;
}

/**
 * Presses, and waits until the page tells what became of it: by a document that answers, or by what it shows. Answers with the status
 * of the document, 0 where it is still the same one.
 */
async function pressed(
  { page, gate }: Pick<Visit, 'page' | 'gate'>,
  submission: Submission,
  button: BrowserLocator,
  timeout: number,
): Promise<number> {
  // A change of the address alone is none: a script can make it before anything has answered.
  const moved = new Promise<undefined>((resolve) => page.on('domcontentloaded', () => resolve(undefined)));
  const answered = gate.answered();
  // Where the page shows it first, nobody waits for this.
  answered.catch(() => undefined);
  await button.click({ timeout, noWaitAfter: true });
  const first = await within(timeout, Promise.race([answered, shownOn(page, submission, timeout)]));
  if (typeof first === 'string') {
    requireNotRefused(first, submission);
    return 0;
  }
  const { status, mark } = await landed({ page, gate }, submission, first, moved, timeout);
  if (isRefusal(first, gate)) throw new DidNothing(`it was answered with ${status}`, { final: true });
  requireNotRefused(mark ?? (await markOf(page, submission, status, timeout)), submission);
  return status;
}

/** That one request was refused tells nothing of another that went before, nor of a deed to which a page was only the sequel. */
function isRefusal({ method, status, next }: Answered, { acts }: Gate): boolean {
  return next === undefined && status >= 400 && status < 500 && (acts === 0 || (acts === 1 && !isReading(method)));
}

/** The document that answers is there, or where it leads on, the one that it leads to; or the page shows before what became of it. */
async function landed(
  { page, gate }: Pick<Visit, 'page' | 'gate'>,
  submission: Submission,
  { next, status }: Answered,
  moved: Promise<undefined>,
  timeout: number,
): Promise<{ readonly status: number; readonly mark?: Mark | undefined }> {
  if (next !== undefined) {
    // The deed is done by now; what follows is a page to look at.
    gate.look();
    return { status: await goTo(page, gate, next, timeout) };
  }
  // To these belongs no document (RFC 9110 sections 15.3.5 and 15.3.6), and what is saved is none.
  if (status === 204 || status === 205) return { status };
  const mark = await within(timeout, Promise.race([moved, shownOn(page, submission, timeout)]));
  await page.waitForLoadState('load', { timeout });
  return { status, mark };
}

type Mark = 'done' | 'refused';

/** What the page says of it; where nothing was declared that would say that it was done, its status does. */
async function markOf(page: BrowserPage, submission: Submission, status: number, timeout: number): Promise<Mark> {
  if (submission.done !== undefined) return shownOn(page, submission, timeout);
  if (submission.refused !== undefined && (await isVisible(page, submission.refused, timeout))) return 'refused';
  if (status >= 200 && status < 300) return 'done';
  throw new Error(`it was answered with ${status}`);
}

/** The first mark that is to be seen; where none is declared, never. @throws Error where none is in time */
function shownOn(page: BrowserPage, { done, refused }: Submission, timeout: number): Promise<Mark> {
  const shown = Object.entries({ done, refused }).flatMap(([mark, at]) =>
    at === undefined
      ? []
      : [
          located(page, at)
            .first()
            .waitFor({ state: 'visible', timeout })
            .then(() => mark as Mark),
        ],
  );
  if (shown.length === 0) return never();
  const first = Promise.any(shown).catch((cause: unknown) => {
    throw new Error('the page does not show that it was done', { cause });
  });
  // Where a document answers first, nobody waits for this.
  first.catch(() => undefined);
  return first;
}

function requireNotRefused(mark: Mark, { refused }: Submission): void {
  if (mark === 'refused') throw new DidNothing(`the page shows ${named(refused!)}`, { final: true });
}

function isVisible(page: BrowserPage, at: Target, timeout: number): Promise<boolean> {
  return within(timeout, located(page, at).first().isVisible());
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
