/** A halted trajectory takes no work, whatever is tried in whatever order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Chain, type EntryRow, readRow } from '#ledger';
import { deepReplay } from '#replay';
import { type Trajectory, verifyStore } from '#runtime';
import { begun, DOCTOR, desk, pendingOf, reopened, worker } from '../support/ledger/delegations.ts';
import { allEntries } from '../support/ledger/desk.ts';
import { rewritten } from '../support/ledger/revocation-cases.ts';
import { intent, writFor } from '../support/ledger/runtime.ts';

const office = writFor('security', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
  nonce: 'office',
});
const halting = { writ: office, reason: 'stop' };

type Step = 'propose' | 'ask' | 'approve' | 'reject' | 'halt' | 'resume' | 'reopen';
const STEPS: readonly Step[] = ['propose', 'ask', 'approve', 'reject', 'halt', 'resume', 'reopen'];

async function take(open: Trajectory, step: Step): Promise<string> {
  const pending = open.approvals.pending().at(-1)?.id ?? 'a'.repeat(64);
  if (step === 'propose') return (await open.propose(intent('add', { by: 0 }, worker))).ruling;
  if (step === 'ask') return (await open.propose(intent('ask', { amount: 1 }, worker))).ruling;
  if (step === 'approve') return (await open.approvals.approve(pending, DOCTOR)).ruling;
  if (step === 'reject')
    return (await open.approvals.reject(pending, { ...DOCTOR, reason: 'no' })).ruling;
  if (step === 'reopen') return 'reopened';
  return (await open[step](halting)).ruling.ruling;
}

test('no work is taken between a halt and its resume', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...STEPS), { minLength: 20, maxLength: 30 }),
      async (steps) => {
        const { store, trajectory } = await begun();
        let open: Trajectory = trajectory;
        let isHalted = false;
        for (const step of steps) {
          const isPending = open.approvals.pending().length > 0;
          const before = open.length;
          const said = await take(open, step).catch(
            (error: { code?: string }) => error.code ?? String(error),
          );
          if (step === 'reopen') open = await reopened(store);
          if (step === 'approve' && !isPending) expect(said).toBe('not_pending');
          else if (isHalted && ['propose', 'ask', 'approve'].includes(step))
            expect(said).toBe('halted');
          if (said === 'halted') expect(open.length).toBe(before);
          if (step === 'halt') isHalted = true;
          if (step === 'resume') isHalted = false;
          expect(open.halted !== undefined).toBe(isHalted);
        }
        for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
        expect(await deepReplay(store, 't', { domains: [desk] })).toMatchObject({ same: true });
      },
    ),
  );
});

test('an approval after a halt is found in a stored ledger', async () => {
  const { store, trajectory } = await begun();
  const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
  await trajectory.approvals.approve(asked, DOCTOR);
  await trajectory.halt(halting);
  const [root, pending, approval, halt] = (await allEntries(store, 't')) as [
    EntryRow,
    EntryRow,
    EntryRow,
    EntryRow,
  ];
  const at = (row: EntryRow, seq: number): EntryRow => {
    return { ...row, seq, payload: JSON.stringify({ ...JSON.parse(row.payload), seq }) };
  };
  const rows = rewritten([root, pending, at(halt, 2), at(approval, 3)], -1, () => {});
  const chain = new Chain('t');
  for (const row of rows.slice(0, 3)) chain.accept({ ...row, payload: readRow(row).payload });
  const last = rows[3] as EntryRow;
  expect(() => chain.accept({ ...last, payload: readRow(last).payload })).toThrow('place.halted');
});
