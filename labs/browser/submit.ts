import { isInstance } from 'assize/internal/base';
import { type CallContext, DidNothing } from 'assize/internal/effects';
import { type DocumentResponse, type Gate, isReading } from './gate.ts';
import type { BrowserLocator, BrowserPage } from './port.ts';
import { type PageSeen, seenOn } from './seen.ts';
import { located, named, only, type Target } from './target.ts';
import { goTo, type Site, untouched, type Visit, type VisitPlan, visit } from './visit.ts';
import { within } from './within.ts';

/** A form to be sent. */
export interface Submission extends VisitPlan {
  readonly button: Target;
  /** The element that the page shows after success. Default: any 2xx answer counts as success. */
  readonly done?: Target | undefined;
  /** The element that the page shows when it refused the form and did nothing. */
  readonly refused?: Target | undefined;
}

/**
 * Fills a form in and sends it, once. Before the button is pressed, only reading requests leave the
 * page. After the press, requests are counted: if no request was sent, the form certainly did
 * nothing.
 *
 * @throws DidNothing if no request was sent, or if the page shows a refusal; another error if the
 * outcome is unknown
 */
export async function submit<T>(
  site: Site,
  submission: Submission,
  call: Pick<CallContext, 'signal'>,
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
      // From here on no request leaves the page, so an unsent request is never sent.
      gate.close();
      if (isInstance(error, DidNothing) || gate.sent > 0) throw error;
      const why = [
        gate.refused.at(-1),
        dialogs.at(-1) === undefined ? undefined : `a dialog showed ${dialogs.at(-1)}`,
      ];
      throw new DidNothing(
        `nothing was sent: ${why.find((one) => one !== undefined) ?? (error as Error).message}`,
        {
          final: gate.refused.length > 0,
          cause: error,
        },
      );
    }
  });
}

async function pressable(
  page: BrowserPage,
  { button, done, refused }: Submission,
  timeout: number,
) {
  for (const mark of [done, refused])
    if (mark !== undefined && (await isVisible(page, mark, timeout)))
      throw new DidNothing(`${named(mark)} is visible before the button was pressed`, {
        final: true,
      });
  const element = await only(page, button, timeout);
  await element.click({ timeout, trial: true });
  return element;
}

/**
 * Presses the button, and waits until an answering document or a declared element shows the
 * outcome. Returns the status of the document, or 0 if the document is unchanged.
 */
async function pressed(
  { page, gate }: Pick<Visit, 'page' | 'gate'>,
  submission: Submission,
  button: BrowserLocator,
  timeout: number,
): Promise<number> {
  // A change of the address alone is not an outcome: a script can change it before any answer.
  const moved = new Promise<undefined>((resolve) =>
    page.on('domcontentloaded', () => resolve(undefined)),
  );
  const answered = gate.answered();
  // If the page shows its outcome first, no code awaits this promise.
  answered.catch(() => undefined);
  await button.click({ timeout, noWaitAfter: true });
  const first = await within(timeout, Promise.race([answered, shownOn(page, submission, timeout)]));
  if (typeof first === 'string') {
    requireNotRefused(first, submission);
    return 0;
  }
  const { status, mark } = await landed({ page, gate }, submission, first, moved, timeout);
  if (isRefusal(first, gate))
    throw new DidNothing(`the server answered with ${status}`, { final: true });
  requireNotRefused(mark ?? (await markOf(page, submission, status, timeout)), submission);
  return status;
}

/**
 * The refusal of one request does not cover an earlier request, or an effect that the page merely
 * followed.
 */
function isRefusal({ method, status, next }: DocumentResponse, { acts }: Gate): boolean {
  return (
    next === undefined &&
    status >= 400 &&
    status < 500 &&
    (acts === 0 || (acts === 1 && !isReading(method)))
  );
}

/**
 * Waits for the answering document, or for the target of its redirections. Ends earlier if the page
 * shows the outcome first.
 */
async function landed(
  { page, gate }: Pick<Visit, 'page' | 'gate'>,
  submission: Submission,
  { next, status }: DocumentResponse,
  moved: Promise<undefined>,
  timeout: number,
): Promise<{ readonly status: number; readonly mark?: Mark | undefined }> {
  if (next !== undefined) {
    // The effect is done by now. The next document is a page to read.
    gate.look();
    return { status: await goTo(page, gate, next, timeout) };
  }
  // These statuses have no document (RFC 9110 sections 15.3.5 and 15.3.6). A download has no
  // document either.
  if (status === 204 || status === 205) return { status };
  const mark = await within(timeout, Promise.race([moved, shownOn(page, submission, timeout)]));
  await page.waitForLoadState('load', { timeout });
  return { status, mark };
}

type Mark = 'done' | 'refused';

/** The outcome that the page shows. If no success element was declared, the status decides. */
async function markOf(
  page: BrowserPage,
  submission: Submission,
  status: number,
  timeout: number,
): Promise<Mark> {
  if (submission.done !== undefined) return shownOn(page, submission, timeout);
  if (submission.refused !== undefined && (await isVisible(page, submission.refused, timeout)))
    return 'refused';
  if (status >= 200 && status < 300) return 'done';
  throw new Error(`the server answered with ${status}`);
}

/**
 * Resolves to the first mark that is visible. Never resolves if no mark is declared.
 * @throws Error if no mark is visible in time
 */
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
    throw new Error('the page does not show the success element', { cause });
  });
  // If a document answers first, no code awaits this promise.
  first.catch(() => undefined);
  return first;
}

function requireNotRefused(mark: Mark, { refused }: Submission): void {
  if (mark === 'refused')
    throw new DidNothing(`the page shows ${named(refused!)}`, { final: true });
}

function isVisible(page: BrowserPage, at: Target, timeout: number): Promise<boolean> {
  return within(timeout, located(page, at).first().isVisible());
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
