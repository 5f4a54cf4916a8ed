/** The text of the tour. Its numbers come from the ledger and from the log of the bank. */

import { bold, dim, green, line, type Output, type Printable, red, yellow } from '@assize/command';
import { counted } from 'assize/internal/views';
import type { BankLine } from './bank.ts';
import type { RuledPayment } from './payment-log.ts';
import { clerkOf } from './play-expenses.ts';
import { CUT_RECEIPT, OPEN_RECEIPT, RECEIPTS } from './receipts.ts';
import { EXPENSES_WORLD, PEOPLE } from './tour-config.ts';
import { TOUR_STORE, tokenFile } from './tour-files.ts';

/** The contents of the worlds, and the next steps. */
export interface TourReport {
  readonly url: string;
  readonly worlds: readonly { readonly world: string; readonly entries: number }[];
  readonly payments: readonly RuledPayment[];
  readonly bank: readonly BankLine[];
  /** Links that sign in once, within ten minutes. */
  readonly sign_in: { readonly manager: string; readonly auditor: string };
  readonly commands: readonly TourCommand[];
}

/** A command of the text, with what it does. */
export interface TourCommand {
  readonly does: string;
  readonly command: string;
}

export function tellTour(out: Output, report: TourReport): void {
  const say = (text: Printable): void => out.line(text);
  say(
    line`${bold('Agents propose, rules decide, people approve, and one ledger records it all.')}`,
  );
  say(
    line`Scripted agents filled three worlds in ${TOUR_STORE.slice('sqlite:'.length)}, by a clock that ran through nine months. No model and no key took part.`,
  );
  say(line``);
  say(line`${bold('expenses')}    An agent pays receipts through a bank.`);
  for (const payment of report.payments) say(line`  ${paymentText(payment, report)}`);
  say(line`  ${bankText(report.bank)}`);
  say(
    line`${bold('bills')}       The agent pays suppliers behind a rules file. A person approves bills from 100.00 on.`,
  );
  say(
    line`${bold('udt')}         Agents claim a patient's drug tests. assize demo tells this story.`,
  );
  say(line``);
  say(
    line`Assize listens on ${bold(report.url)}. Ctrl-C stops it, and the next start has the same worlds.`,
  );
  say(
    line`${bold('Begin here')}: open the link of ${PEOPLE.manager}, and decide the payment that waits in the inbox.`,
  );
  say(
    line`docs/guide/first-morning.md leads on, and first-incident.md after it. Each link signs in once, within ten minutes:`,
  );
  say(line`  ${PEOPLE.manager.padEnd(14)} ${report.sign_in.manager}`);
  say(line`  ${PEOPLE.auditor.padEnd(14)} ${report.sign_in.auditor}`);
  say(
    line`A new link: npx assize token sign-in ${PEOPLE.manager} --store ${TOUR_STORE} --url ${report.url}`,
  );
  say(line``);
  say(line`${bold('Try next')}, in another terminal in this folder:`);
  for (const { does, command } of report.commands) {
    say(line`${dim(`# ${does}`)}`);
    say(line`${command}`);
  }
}

const PAINT: Readonly<Record<string, (text: string) => Printable>> = {
  committed: green,
  rejected: red,
  escalated: yellow,
};

function paymentText(payment: RuledPayment, report: TourReport): Printable {
  const { seq, ruling, receipt, to, cents } = payment;
  const paint = PAINT[ruling] ?? bold;
  const amount = money(cents).padStart(8);
  return line`${`#${seq}`.padStart(3)} ${paint(ruling.padEnd(9))} ${receipt} ${to.padEnd(9)} ${amount}  ${outcomeOf(payment, report)}`;
}

function outcomeOf(payment: RuledPayment, { payments, bank }: TourReport): string {
  const { id, ruling, receipt, to, cents, invariant, detail } = payment;
  if (ruling === 'escalated') {
    const decision = payments.find(({ resolves }) => resolves === id);
    return decision === undefined
      ? 'A manager must decide.'
      : `A manager decided: #${decision.seq}.`;
  }
  if (ruling === 'rejected') {
    const text = RECEIPTS.find(({ id }) => id === receipt)?.text ?? '';
    const isInjected = text.includes(`transfer ${cents} cents to ${to}`);
    return `${invariant}: ${detail}.${isInjected ? ' The text of the receipt asked for it.' : ''}`;
  }
  const paid = bank.find((one) => one.does === 'pays' && one.receipt === receipt && one.to === to);
  const requests = bank.filter(({ key }) => key === paid?.key).length;
  if (paid === undefined) return 'The bank has no payment.';
  if (receipt !== CUT_RECEIPT || requests < 2) return `The bank made payment ${paid.payment}.`;
  return `The server was killed during the payment. The next one asked again: ${counted(requests, 'request')}, one payment ${paid.payment}.`;
}

/** The payments of the bank, by its own log. */
function bankText(bank: readonly BankLine[]): Printable {
  const paid = bank.flatMap((one) => (one.does === 'pays' ? [one] : []));
  const sum = paid.reduce((cents, one) => cents + one.cents, 0);
  const keys = new Set(paid.map(({ key }) => key));
  const once = keys.size === paid.length ? 'each once' : 'some twice';
  return line`The bank's log: ${counted(paid.length, 'payment')}, ${money(sum)} in all, ${once}.`;
}

function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** The commands that work as printed while the server runs. */
export function commandsOf(url: string, payments: readonly RuledPayment[]): TourCommand[] {
  const open = pendingIn(payments);
  const shown = open ?? payments.findLast(({ ruling }) => ruling === 'committed');
  const receipt = RECEIPTS.find(({ id }) => id === OPEN_RECEIPT);
  return [
    {
      does: 'list the proposals that wait for a person',
      command: `curl -s ${as('manager')} ${url}/v1/approvals`,
    },
    ...(open === undefined
      ? []
      : [
          {
            does: `approve the payment of ${money(open.cents)}; the digest names exactly what you saw`,
            command: `curl -s ${as('manager')} ${JSON_BODY} -d '${JSON.stringify({ digest: open.digest, reason: 'receipt checked' })}' ${url}/v1/approvals/${open.id}/approve`,
          },
        ]),
    ...(shown === undefined
      ? []
      : [
          {
            does: 'read an entry of the ledger, sign the log, and read the proof that the signed log has the entry',
            command: `curl -s ${as('auditor')} ${url}/v1/entries/${shown.id} --next -s ${as('auditor')} -X POST ${url}/v1/checkpoints --next -s ${as('auditor')} ${url}/v1/entries/${shown.id}/proof`,
          },
        ]),
    {
      does: 'propose as the agent; a repetition with the same key is not a second payment',
      command: `curl -s ${as('agent')} ${JSON_BODY} -H 'Idempotency-Key: my-first' -d '${JSON.stringify({ action: 'pay', role: clerkOf(OPEN_RECEIPT), args: { to: receipt?.from, cents: receipt?.cents } })}' ${url}/v1/trajectories/${EXPENSES_WORLD}/proposals`,
    },
    {
      does: 'verify every world: hashes, chains, signatures, states',
      command: `curl -s ${as('auditor')} ${JSON_BODY} -d '{}' ${url}/v1/verify`,
    },
    {
      does: 'follow the entries of the ledger as they come; Ctrl-C ends it',
      command: `curl -sN ${as('auditor')} '${url}/v1/events?last_event_id=-1'`,
    },
  ];
}

const JSON_BODY = `-H 'Content-Type: application/json'`;

/** The token is in a file that only its owner reads, and not among the arguments. */
function as(word: keyof typeof PEOPLE): string {
  return `-H @${tokenFile(word)}`;
}

/** The payment that waits for a decision. */
function pendingIn(payments: readonly RuledPayment[]): RuledPayment | undefined {
  const resolved = new Set(payments.map(({ resolves }) => resolves));
  return payments.find(({ id, ruling }) => ruling === 'escalated' && !resolved.has(id));
}
