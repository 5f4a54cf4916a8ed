/** A drafted module in its ledger: recorded, repeated, accepted by a person, and run. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { budget } from '@assize/cli/unstable/domains/budget';
import { walkLifeCycle } from '@assize/testing';
import { createAssize } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { acceptDraft, parse, recordDraft, submittedDraft } from '../index.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';

const ontology = parse(LIBRARY);
const right = JSON.stringify(LIBRARY_ANSWER);
const wrong = JSON.stringify({
  ...LIBRARY_ANSWER,
  initial: { ...LIBRARY_ANSWER.initial, funds: 'much' },
});

let folder: string;
let store: string;
beforeEach(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(import.meta.dirname, '../../../dist-draft-'));
  store = `sqlite:${join(folder, 'library.draft.db')}`;
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function answering(...answers: readonly (string | Error)[]) {
  const asked: string[] = [];
  const model = (request: string): string => {
    asked.push(request);
    const answer = answers[asked.length - 1];
    if (typeof answer === 'string') return answer;
    throw answer ?? new Error('no further answer');
  };
  return { model, asked };
}

/** The head of each trajectory. */
async function heads(): Promise<readonly object[]> {
  const open = await openStore(store, { mode: 'readonly' });
  try {
    return await open.trajectories();
  } finally {
    await open.close();
  }
}

test('rounds are recorded, and a repeated draft asks no model', async () => {
  const { model, asked } = answering(wrong, right);
  const draft = await recordDraft(ontology, { store, model, modelVersion: '1' });
  expect([draft.ok, draft.rounds.length, asked.length]).toEqual([true, 2, 2]);
  const before = await heads();
  // The root, two rounds, and the submission.
  expect(before).toMatchObject([{ entries: 4 }]);
  const again = await recordDraft(ontology, { store, model, modelVersion: '1' });
  expect(again).toEqual(draft);
  expect([asked.length, await heads()]).toEqual([2, before]);
});

test('an interrupted draft goes on after its recorded rounds', async () => {
  const first = answering(wrong, new Error('no connection'));
  await expect(recordDraft(ontology, { store, model: first.model })).rejects.toThrow(
    'no connection',
  );
  const second = answering(right);
  const draft = await recordDraft(ontology, { store, model: second.model });
  expect([draft.ok, draft.rounds.length, second.asked.length]).toEqual([true, 2, 1]);
});

test('only a person accepts, and only the recorded text', async () => {
  const { model } = answering(right);
  const { best, trajectory } = await recordDraft(ontology, {
    store,
    model,
    modelVersion: 'openai:m',
  });
  const { text = '', module } = best ?? {};
  const submitted = await submittedDraft(store, text);
  expect(submitted).toMatchObject({
    trajectory,
    module,
    model: 'model:openai:m',
    domain: 'library',
    text,
  });
  expect(submitted).not.toHaveProperty('accepted');
  for (const principal of ['model:openai:m', 'ada', 'human:', 'agent:human:ada'])
    await expect(acceptDraft(store, text, principal)).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
  await expect(acceptDraft(store, `${text} `, 'human:ada')).rejects.toMatchObject({
    code: 'not_acceptable',
  });
  expect(await submittedDraft(store, text)).not.toHaveProperty('accepted');
  const { accepted } = await acceptDraft(store, text, 'human:ada');
  expect(accepted?.by).toBe('human:ada');
  expect((await acceptDraft(store, text, 'human:ben')).accepted).toEqual(accepted);
  expect(await heads()).toMatchObject([{ entries: 4 }]);
});

test('a draft with errors left is not submitted', async () => {
  const { model } = answering(wrong, wrong);
  const { ok, best } = await recordDraft(ontology, { store, model, rounds: 2 });
  expect(ok).toBe(false);
  await expect(submittedDraft(store, best?.text ?? '')).rejects.toMatchObject({
    code: 'not_acceptable',
  });
  await expect(acceptDraft(store, best?.text ?? '', 'human:ada')).rejects.toMatchObject({
    code: 'not_acceptable',
  });
});

test('the accepted module is the library: it commits, refuses and escalates', async () => {
  const { best } = await recordDraft(ontology, { store, model: answering(right).model });
  const { text } = await acceptDraft(store, best?.text ?? '', 'human:ada');
  const file = join(folder, 'library.ts');
  writeFileSync(file, text);
  const { library } = (await import(pathToFileURL(file).href)) as { library: Domain };
  const world = await createAssize({
    store: `sqlite:${join(folder, 'library.db')}`,
    domain: library,
  });
  const office = { name: 'Office', params: { member: 'ada' } };
  const desk = { name: 'Desk', params: { member: 'ada' } };
  const propose = async (action: string, role: unknown, args: object) =>
    (await world.propose({ action, role, args } as never)) as {
      ruling: string;
      invariantId?: string;
    };
  expect(await propose('buy', 'Buyer', { book: 'emma', title: 'Emma', price: 40 })).toMatchObject({
    ruling: 'committed',
  });
  expect(await propose('admit', office, { limit: 1, standing: 'active' })).toMatchObject({
    ruling: 'committed',
  });
  const unknown = await propose('lend', desk, { book: 'ulysses', weeks: 2 });
  expect(unknown).toMatchObject({ ruling: 'rejected', invariantId: 'IN_THE_CATALOGUE' });
  expect(await propose('lend', desk, { book: 'emma', weeks: 5 })).toMatchObject({
    ruling: 'escalated',
  });
  await world.close();
});

test('a drafted budget rules as the shipped one, over a walk of its life cycle', async () => {
  const url = import.meta.resolve('@assize/cli/internal/domains/budget/ontology.ttl');
  const answer = {
    schemas: {
      '/cap': 'z.number().int().nonnegative()',
      '/spent/*': 'z.number().int().nonnegative()',
    },
    initial: { cap: 100, spent: {} },
    actions: [
      {
        ...{ name: 'spend', process: 'spend' },
        args: 'z.object({ amount: z.number().int().positive() })',
        apply: `(state, { amount }, { role: { agent } }) => {
          state.spent[agent] = (state.spent[agent] ?? 0) + amount;
        }`,
      },
    ],
    invariants: {
      BUDGET_CAP: {
        check: `({ cap, spent }) => {
          const total = Object.values(spent).reduce((sum, n) => sum + n, 0);
          return total <= cap ? pass : reject(\`\${total} of \${cap}\`);
        }`,
        blocks: [{ cap: 1, spent: { ada: 1, bob: 1 } }],
        passes: [{ cap: 2, spent: { ada: 1, bob: 1 } }],
      },
    },
  };
  const shippedOntology = parse(readFileSync(fileURLToPath(url), 'utf8'));
  const { best, ok, rounds } = await recordDraft(shippedOntology, {
    store,
    model: answering(JSON.stringify(answer)).model,
    rounds: 1,
  });
  expect(ok, JSON.stringify(rounds)).toBe(true);
  const file = join(folder, 'budget.ts');
  writeFileSync(file, (await acceptDraft(store, best?.text ?? '', 'human:ada')).text);
  const drafted = ((await import(pathToFileURL(file).href)) as { budget: Domain }).budget;
  const walked = (domain: Domain) =>
    walkLifeCycle({
      ...{ domain, initial: { cap: 100, spent: {} }, at: '2026-01-01T00:00:00.000000Z', depth: 4 },
      proposals: () =>
        ['ada', 'bob'].flatMap((agent) =>
          [1, 45, 60].map((amount) => ({
            ...{ action: 'spend', args: { amount } },
            role: { name: 'spender', params: { agent } },
          })),
        ),
      allowed: () => undefined,
    });
  expect(walked(drafted)).toEqual(walked(budget as never));
});
