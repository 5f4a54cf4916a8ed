/** The report of `assize demo`, and its text. */
import { bold, green, red, visible, visibleJson } from '@assize/command';
import type { Json } from 'assize/internal/base';
import type { VerifyReport } from 'assize/internal/ledger';
import type { EffectOutcome, Ruling } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';
import { paintedRuling } from '../render/ruling.ts';
import type { Scene } from './play.ts';
import { AGENTS } from './scenes.ts';

/** A call that an entry records. `id`: the idempotency key that the tool receives. */
export interface RecordedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

/** A move with its outcome. */
export interface DemoStep {
  readonly seq: number;
  readonly entry_id: string;
  readonly at: string;
  readonly principal: string;
  readonly role: string;
  readonly action: string;
  readonly args: object;
  readonly ruling: Ruling['ruling'];
  readonly invariant_id?: string;
  readonly detail?: string;
  /** The seq of the pending entry that the approval resolves. */
  readonly resolves?: number;
  /** The seq of the earlier ruling that a repeated request gets. */
  readonly repeats?: number;
  /** The calls of the entry. Until its commit a call has neither phase nor answer. */
  readonly calls: readonly (RecordedCall & Partial<Pick<EffectOutcome, 'phase' | 'answer'>>)[];
  /** The requests that the bank received in this step. */
  readonly requests: number;
  /** Whether ruling and requests match the story. */
  readonly as_told: boolean;
}

/** The payments of the bank, and the calls that the ledger records. */
export interface DemoTotals {
  readonly bank: { readonly requests: number; readonly payments: number; readonly cents: number };
  readonly ledger: { readonly calls: number; readonly cents: number };
  /** Whether the payments are the recorded calls, and the bank got one request for each. */
  readonly equal: boolean;
}

/** One trajectory of the demo. */
export interface ActReport {
  readonly trajectory_id: string;
  readonly domain: { readonly name: string; readonly version: string; readonly hash: string };
  readonly steps: readonly DemoStep[];
  readonly verification: VerifyReport;
}

export interface DemoReport extends ActReport {
  /**
   * Whether every ruling matches the story, the bank has paid what the ledger records, the ledger
   * verifies, and its changed copy does not.
   */
  readonly ok: boolean;
  readonly store: string;
  readonly anchor: string;
  /** The second act: the covered claims are paid. */
  readonly payments: ActReport & { readonly totals: DemoTotals };
  /** The verification result of a copy in which one entry was changed. */
  readonly changed_copy: VerifyReport;
  readonly commands: readonly string[];
}

type Tell = (line: string) => void;

const SEES: Readonly<Record<keyof typeof AGENTS, string>> = {
  LabOrder: 'the orders and their reasons',
  Billing: 'the claims; no test, no tier',
  Clinical: 'tests, results, the abstinence tier',
};

export function tellAct(tell: Tell, store: string, trajectoryId: string): void {
  tell(bold("Is David's second drug test covered?").text);
  for (const line of [
    'The case is from section 3.1 of the paper that Assize is built on: A. Sterling, Provably Auditable and Safe LLM',
    'Agents from Human-Authored Ontologies (2026). The ledger calls it seed 000.',
    'Three agents propose, and each sees a part of his record. A kernel adjudicates every proposal on the whole',
    'record, by fixed rules in a fixed order. Every ruling becomes an entry of a hash-chained ledger. A committed',
    `claim is covered. Store ${visible(store)}, trajectory ${trajectoryId}.`,
  ])
    tell(line);
  for (const [role, sees] of Object.entries(SEES))
    tell(`  ${AGENTS[role as keyof typeof AGENTS].padEnd(15)}${role.padEnd(10)}sees ${sees}`);
}

export function tellScene(tell: Tell, { day, heading }: Scene): void {
  tell('');
  tell(bold(`${day}  ${heading}`).text);
}

export function tellStep(tell: Tell, step: DemoStep): void {
  const { seq, principal, role, action, args, ruling, resolves, repeats, calls, requests } = step;
  const what =
    resolves === undefined ? `${action} ${short(args)}` : `approves #${resolves} and commits it`;
  const word = paintedRuling(ruling, ruling.padEnd(10)).text;
  tell(`${`#${seq}`.padStart(4)} ${word} ${principal.padEnd(15)}${role.padEnd(9)} ${what}`);
  if (step.detail !== undefined)
    tell(`     ${bold(step.invariant_id ?? ruling).text} ${step.detail}`);
  if (!step.as_told) tell(red('     The story expects another outcome.').text);
  if (action !== 'pay' && calls.length === 0) return;
  const told =
    repeats === undefined ? calls.map(callText) : [`The same request: the ruling of #${repeats}.`];
  const got = requests === 0 ? 'no request' : counted(requests, 'request');
  tell(`     ${[...told, `The bank got ${got}.`].join(' ')}`);
}

function callText({ tool, input, phase, answer }: DemoStep['calls'][number]): string {
  const answered = answer === undefined ? '' : `, ${short(answer as object)}`;
  return `${tool} ${short(input as object)}: ${phase ?? 'waits'}${answered}.`;
}

/** Short arguments: `test=d2 tier=90+`, quoted if a value contains a space. */
function short(args: object): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${`${value}`.includes(' ') ? JSON.stringify(value) : value}`)
    .join(' ');
}

export function tellTotals(tell: Tell, { bank, ledger, equal }: DemoTotals): void {
  const made = `The bank made ${counted(bank.payments, 'payment')}, ${bank.cents} cents in all.`;
  const recorded = `The ledger records ${counted(ledger.calls, 'call')}, ${ledger.cents} cents in all`;
  const verdict = equal ? green('the same, each made once').text : red('they differ').text;
  tell(`${made} ${recorded}: ${verdict}.`);
}

/** The end of the story, or the report as one document. */
export function tellEnd(
  tell: Tell,
  report: DemoReport,
  { json, needsPassword }: { readonly json: boolean; readonly needsPassword: boolean },
): void {
  if (json) {
    tell(visibleJson(report));
    return;
  }
  const { ok, verification, payments, changed_copy, commands } = report;
  const acts = [verification, payments.verification];
  const fault = acts.find(({ valid }) => !valid)?.fault;
  tell('');
  tell(bold('The ledger').text);
  tell(
    fault === undefined
      ? `${green('verified').text}: ${acts.map(lengthOf).join(' and ')} replayed; all ids, all links and the states are valid.`
      : `${red('does not verify').text}: ${fault.trajectory_id} seq ${fault.seq}: ${fault.detail}`,
  );
  tell("An entry's id is the SHA-256 of its content and of the id before it. The last ids,");
  for (const { head, trajectory_id } of acts) tell(`${head} of ${trajectory_id},`);
  tell(
    'reveal every change, removal or reordering of earlier entries. In a copy in which the first refusal was',
  );
  tell(
    `changed into a commit, verify finds: seq ${changed_copy.fault?.seq}: ${changed_copy.fault?.detail}.`,
  );
  tell('No model took part in a ruling, and the verification needs no model.');
  tell('');
  tell(bold('Look closer').text);
  if (commands.length === 0)
    tell('  This store was in memory and is discarded. Pass --store sqlite:./file.db to keep it.');
  for (const command of commands) tell(`  ${command}`);
  if (needsPassword) tell('  The commands read the password of the store from PGPASSWORD.');
  if (!ok) tell(red('An outcome differs from the story; see above.').text);
}

function lengthOf({ trajectory_id, entries }: VerifyReport): string {
  return `${counted(entries, 'entry')} of ${trajectory_id}`;
}
