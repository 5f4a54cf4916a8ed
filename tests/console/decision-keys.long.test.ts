/**
 * Any sequence of keys, focus and network sends the decisions of a model, and no others. The model
 * is the form of a decision as a person understands it: where the focus is, and what was written.
 */
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const STEPS = [
  ...(['a', 'r', 'x', 'Escape', 'Enter'] as const),
  ...(['click Approve', 'click Reject', 'double click Approve'] as const),
  ...(['focus Reason', 'focus the proposal', 'focus a link outside'] as const),
  ...(['offline', 'online'] as const),
] as const;
type Step = (typeof STEPS)[number];

/** A step, or what people do in one go. */
const GESTURES: readonly (readonly Step[])[] = [
  ...STEPS.map((step) => [step]),
  ...([
    ['r', 'x'],
    ['r', 'x', 'Escape', 'focus Reason', 'Enter'],
    ['Escape', 'a', 'Enter'],
    ['a', 'Enter'],
  ] as const),
  ...([
    ['focus Reason', 'x'],
    ['focus Reason', 'Enter'],
    ['r', 'Escape'],
  ] as const),
];

interface Sent {
  readonly decision: 'approve' | 'reject';
  readonly reason: string;
}

/** The decision form: the focus, the text, and whether Enter in the reason rejects. */
class Model {
  focus: 'proposal' | 'reason' | 'approve' | 'outside' = 'proposal';
  text = '';
  isArmed = false;
  /** The text was written to reject. */
  isAgainst = false;
  isOnline = true;
  isOpen = true;
  sent: Sent | undefined;

  /** False for a step that a person cannot take now, or that leaves the page. */
  can(step: Step): boolean {
    if (!this.isOpen || this.sent !== undefined) return false;
    return step !== 'Enter' || this.focus !== 'outside';
  }

  take(step: Step): void {
    if (step === 'a') this.#key('a', () => this.#move('approve'));
    else if (step === 'r') this.#key('r', () => this.#arm());
    else if (step === 'x') this.#key('x', () => undefined);
    else if (step === 'Escape') this.#back();
    else if (step === 'Enter') this.#enter();
    else if (step === 'click Reject') this.#press('proposal', () => this.#reject());
    else if (step.endsWith('click Approve')) this.#press('approve', () => this.#approve());
    else if (step === 'focus Reason') this.#move('reason');
    else if (step === 'focus the proposal') this.#move('proposal');
    else if (step === 'focus a link outside') this.#move('outside');
    else this.isOnline = step === 'online';
  }

  #key(letter: string, act: () => void): void {
    if (this.focus === 'reason') {
      this.text += letter;
      this.isAgainst = this.isArmed;
    } else if (this.focus !== 'outside') act();
  }

  #back(): void {
    if (this.focus === 'proposal') this.isOpen = false;
    else if (this.focus !== 'outside') this.#move('proposal');
  }

  #enter(): void {
    if (this.focus === 'approve') this.#approve();
    else if (this.focus === 'reason' && this.isArmed) this.#reject();
  }

  #press(focus: Model['focus'], act: () => void): void {
    this.#move(focus);
    act();
  }

  #move(focus: Model['focus']): void {
    if (focus !== this.focus) this.isArmed = false;
    this.focus = focus;
  }

  #arm(): void {
    this.focus = 'reason';
    this.isArmed = true;
  }

  #approve(): void {
    this.#send({ decision: 'approve', reason: this.isAgainst ? '' : this.text });
  }

  #reject(): void {
    if (this.text === '') this.#arm();
    else this.#send({ decision: 'reject', reason: this.text });
  }

  #send(sent: Sent): void {
    if (this.isOnline) this.sent = sent;
  }
}

/** Takes a step in the browser. */
async function take(page: Page, step: Step): Promise<void> {
  const form = page.getByRole('form', { name: 'Decision' });
  const button = (name: RegExp) => form.getByRole('button', { name });
  switch (step) {
    case 'click Approve':
      return button(/^Approve/).click();
    case 'double click Approve':
      return button(/^Approve/).dblclick();
    case 'click Reject':
      return button(/^Reject/).click();
    case 'focus Reason':
      return form.getByLabel('Reason').focus();
    case 'focus the proposal':
      return page.getByLabel('Proposal', { exact: true }).focus();
    case 'focus a link outside':
      return page.getByRole('link', { name: 'Audit' }).focus();
    case 'offline':
    case 'online':
      return page.context().setOffline(step === 'offline');
    default:
      return page.keyboard.press(step);
  }
}

/** The decision that the ledger has. Undefined while the proposal waits. */
async function decidedIn(server: TestServer, approval: string): Promise<Sent | undefined> {
  const { ruling, status } = await succeed(server, 'approvals.get', { path: { approval } });
  if (status === 'pending') return undefined;
  const path = { entry: ruling.entry_id };
  const { payload } = await succeed(server, 'entries.get', { path });
  return ruling.ruling === 'committed'
    ? { decision: 'approve', reason: payload.counselor.reason ?? '' }
    : { decision: 'reject', reason: payload.detail };
}

withConsole(({ serve, open }) => {
  test('any sequence of keys, focus and network sends what its model sends', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/inbox');
    let posts = 0;
    page.on('request', (request) => {
      if (/\/(approve|reject)$/.test(new URL(request.url()).pathname)) posts++;
    });
    let n = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...GESTURES), { minLength: 1, maxLength: 8 }),
        async (gestures) => {
          const key = `n${n++}`;
          const { approval_id: approval } = await succeed(
            server,
            'proposals.create',
            pay(key, 200, key),
          );
          await page.context().setOffline(false);
          await page.goto(`${server.url}/inbox/${approval}`);
          await page.getByText('Would be approved').waitFor();
          await page.getByText('Live').waitFor();
          await page.getByLabel('Proposal', { exact: true }).focus();
          posts = 0;
          const model = new Model();
          for (const step of gestures.flat()) {
            if (!model.can(step)) continue;
            const before = model.isOnline;
            model.take(step);
            await take(page, step);
            // A refused request can take the focus from its button for a moment.
            if (!before && model.sent === undefined && /Approve|Reject|Enter/.test(step)) {
              await page.waitForTimeout(150);
              await take(page, 'focus the proposal');
              model.take('focus the proposal');
            }
          }
          if (model.sent !== undefined) await page.getByText('Decided: ').first().waitFor();
          await page.context().setOffline(false);
          await page.waitForTimeout(200);
          expect(posts).toBe(model.sent === undefined ? 0 : 1);
          expect(await decidedIn(server, approval)).toEqual(model.sent);
        },
      ),
      { numRuns: 60 },
    );
  });
});
