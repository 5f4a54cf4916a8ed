import type { FactStore } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import {
  ANSWERS,
  ATTEMPTS,
  answered,
  keyIn,
  OTHERS,
} from '../../../tests/support/clinic/answers-about-patient.ts';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
  WORDS,
} from '../../../tests/support/clinic/mentions-of-patient.ts';
import { expectFewAttempts } from '../../../tests/support/ledger/oracle-attempts.ts';
import { HandClock, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { tablesOf } from '../../../tests/support/ledger/stores.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres } from './index.ts';

withPostgres('erasing', (postgres) => {
  test('no table contains anything of an erased fact', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const clock = new HandClock();
    const writ = writFor('nurse');
    const trajectory = (await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
      trajectoryId: 't',
      writs: [writ],
    })) as Trajectory;
    await told({ clock, trajectory, memory: trajectory.memory({ space: 'ward', writ }) });
    // An index stores each word separately.
    const all = [...SECRETS, ...WORDS];
    const found = async (): Promise<string[]> => {
      const text = await tablesOf(postgres, url);
      return all.filter((secret) => text.includes(secret));
    };
    expect(await found()).toEqual(all);
    const others = (await rowsOf(store)).filter(({ subject }) => subject !== WHO);
    await committed(
      trajectory.erase({ beliefs: [{ space: 'ward', subject: WHO }], reason: 'request 17', writ }),
    );
    expect(await found()).toEqual([]);
    expect(await rowsOf(store)).toEqual(others);
    expect(await store.selfCheck?.()).toEqual([]);
    await committed(
      trajectory
        .memory({ space: 'ward', writ })
        .assert({ subject: WHO, predicate: 'drug', object: 'anew' }),
    );
    expect(await rowsOf(store, { subject: WHO })).toMatchObject([{ object: 'anew', seq: 1 }]);
    await store.close();
  });
  test('of attempts at one question as many are kept as may be', async () => {
    const store = await openPostgres({ url: postgres.url() });
    await expectFewAttempts(store);
    await store.close();
  });
  test('no table contains an oracle answer about an erased fact', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const { trajectory, asked, vote } = await answered(store);
    const found = async (texts: readonly string[]): Promise<string[]> => {
      const text = await tablesOf(postgres, url);
      return texts.filter((one) => text.includes(one));
    };
    expect(await found([...ANSWERS, ...ATTEMPTS, ...OTHERS])).toEqual([...ANSWERS, ...OTHERS]);
    const writ = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
    const beliefs = [{ space: 'ward', subject: WHO }];
    const { entry } = await committed(trajectory.erase({ beliefs, reason: 'request 17', writ }));
    expect(await found([...ANSWERS, ...OTHERS])).toEqual(OTHERS);
    for (const key of [vote, keyIn(asked, 'observed by key')]) {
      expect(await store.oracleGet(key)).toMatchObject({ answer: '', erased_by: entry.id });
      expect(await store.oraclePut({ key, answer: '1', at: '' })).toMatchObject({
        answer: '',
        erased_by: entry.id,
      });
    }
    expect(await store.selfCheck?.()).toEqual([]);
    await store.close();
  });
});

function rowsOf(store: FactStore, of: object = {}) {
  return store.facts({ space: 'ward', kind: 'all', ...of });
}
