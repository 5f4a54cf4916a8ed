import { expect, test } from 'vitest';
import { writId } from '#authority';
import { defineDomain } from '#kernel';
import { type CommitPayload, type EntryRow, type FactVersion, readRow } from '#ledger';
import { openStore } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  argsOf,
  begun,
  day,
  erasing,
  everything,
  expectSound,
  exported,
  foundIn,
  gone,
  namesIn,
  officer,
  rowsOf,
  writ,
} from '../../../../../tests/support/clinic/clinic-erasure.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
} from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { nearBy, onEveryStore } from '../../../../../tests/support/ledger/stores.ts';
import type { Trajectory } from '../trajectory.ts';

onEveryStore((stores) => {
  const near = nearBy(stores);

  test('nothing is left of a subject that is erased, and all else is as it was', async () => {
    const ward = await begun(stores);
    const { store, trajectory, memory } = ward;
    await told(ward);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS);
    const all = await rowsOf(store);
    const his = all.filter(({ subject }) => subject !== WHO);
    const texts = await exported(store);
    const { remaining, entry } = await committed(erasing(trajectory, {}));
    expect(remaining).toEqual([]);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    expect(await rowsOf(store)).toEqual(his);
    // The erased hash is in the same place.
    const names = namesIn(entry);
    expect(names).toHaveLength(3);
    // Values that identify others go last, so that a second attempt after a crash finds the rest.
    expect(
      argsOf(entry)
        .values.slice(-3)
        .map(({ hash }) => hash)
        .sort(),
    ).toEqual(names);
    const gaps = (await Promise.all(names.map((hash) => rowsOf(store, gone(hash))))).flat();
    expect(gaps).toHaveLength(all.length - his.length);
    for (const { object, content, subject } of gaps) {
      expect(object).toBe(gone(content.hash));
      expect(names.map(gone)).toContain(subject);
    }
    expect(
      (await memory.recall({ subject: WHO, valid: 'any', system: 'any', kind: 'all' })).facts,
    ).toEqual([]);
    await expectSound(ward);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    // No more texts than those about her.
    const kept = /"(of p8|more of p8|of p9|70 kg|p8|p9)"/g;
    expect([...(await exported(store)).matchAll(kept)].length).toBe(
      [...texts.matchAll(kept)].length,
    );
    await store.close();
    if (stores.kind === 'sqlite') {
      const again = await openStore(ward.url);
      expect(foundIn(await everything({ ...ward, store: again }), SECRETS)).toEqual([]);
      await again.close();
    }
  });

  near('the recalls of others that named her are gone, and no others', async () => {
    const ward = await begun(stores);
    await told(ward);
    const erased = async () => {
      const rows = await ward.store.entries('t');
      const values = rows.flatMap((row) =>
        row.kind === 'commit' ? (readRow(row).payload as CommitPayload).observations : [],
      );
      const recalls = values
        .filter(({ name }) => name === 'recall')
        .map(({ value }) => (value as { $blob: string }).$blob);
      return Promise.all(
        recalls.map(async (hash) => (await ward.store.erasedBy(hash)) !== undefined),
      );
    };
    expect(await erased()).toEqual([false, false, false]);
    await committed(erasing(ward.trajectory, {}));
    expect(await erased()).toEqual([true, true, false]);
  });

  near.each([
    ['The Who', 'concert The Who secretly', 'concert secretly, the'],
    ['the patients of 7', 'what has patient 7?', 'the number of 8'],
    ['IT', 'it', 'what patient 7 has'],
  ])('of %s a recall by %j is gone, and none by %j', async (subject, text, other) => {
    const { store, trajectory, memory } = await begun(stores);
    await committed(memory.assert({ subject, predicate: 'drug', object: 'aspirin' }));
    const recalls = [await memory.recall({ text }), await memory.recall({ text: other })];
    const said = await committed(
      memory.assert(
        { subject: 'p8', predicate: 'drug', object: 'none' },
        { observations: recalls.map(({ observation }) => observation) },
      ),
    );
    const { observations } = readRow(said.entry).payload as CommitPayload;
    await committed(erasing(trajectory, { subject }));
    const gone = await Promise.all(
      observations.map(
        async ({ value }) =>
          (await store.erasedBy((value as { $blob: string }).$blob)) !== undefined,
      ),
    );
    expect(gone).toEqual([true, false]);
  });

  near('of a predicate, the others stay', async () => {
    const ward = await begun(stores);
    await told(ward);
    const drugs = SECRETS.filter((text) => /illin|ibuprofen|sure|stamped|letter/.test(text));
    const before = (await rowsOf(ward.store)).filter(
      ({ subject, predicate }) => subject === WHO && predicate !== 'drug',
    );
    await committed(erasing(ward.trajectory, { predicate: 'drug' }));
    const text = await everything(ward);
    // Texts that cannot be parsed are erased if they name her.
    const gone = [...drugs, 'mistyped'];
    expect(foundIn(text, SECRETS)).toEqual(SECRETS.filter((each) => !gone.includes(each)));
    expect((await rowsOf(ward.store)).filter(({ subject }) => subject === WHO)).toEqual(before);
    await expectSound(ward);
  });

  near('a memory erases of its own space, by its own writ where that covers it', async () => {
    const { store, trajectory, memory } = await begun(stores);
    const other = trajectory.memory({ space: 'icu', writ });
    const drug = { subject: WHO, predicate: 'drug', object: 'penizillin 500' };
    for (const view of [memory, other])
      for (const said of [drug, { ...drug, predicate: 'allergy' }, { ...drug, subject: 'p8' }])
        await committed(view.assert(said));
    const believed = async () =>
      (await rowsOf(store)).map(
        ({ subject, predicate, object }) => `${subject} ${predicate} ${object}`,
      );
    const rest = [`p8 drug penizillin 500`];
    const [{ lineage: claim }] = (await memory.recall({ subject: WHO, predicate: 'allergy' }))
      .facts as [FactVersion];
    const { entry } = await committed(
      memory.erase({
        subject: WHO,
        predicate: 'allergy',
        claim,
        reason: 'request 18',
        writ: officer,
      }),
    );
    expect(JSON.parse(entry.payload)).toMatchObject({
      writ_id: writId(officer),
      action: { args: { reason: 'request 18', beliefs: [{ claim }] } },
    });
    expect(await believed()).toEqual(
      [
        `${WHO} allergy ${gone((await rowsOf(store, 'ward', { predicate: 'allergy' }))[0]!.content.hash)}`,
        `${WHO} drug penizillin 500`,
        ...rest,
      ].toSorted(),
    );
    const own = await committed(
      memory.erase({ subject: WHO, predicate: 'drug', reason: 'request 19' }),
    );
    expect(JSON.parse(own.entry.payload)).toMatchObject({ writ_id: writId(writ) });
    expect((await believed()).filter((row) => row.includes('drug'))).toEqual(rest);
    const named = trajectory.memory({ space: 'ward', writ, principal: 'nurse' });
    // Each writ has its own holder.
    expect(await named.erase({ subject: WHO, reason: 'r', principal: 'officer' })).toMatchObject({
      ruling: 'rejected',
    });
    const last = await named.erase({ subject: WHO, reason: 'request 20', writ: officer });
    expect(last).toMatchObject({ ruling: 'committed', remaining: [] });
    expect(await believed()).toEqual(rest);
    expect(await rowsOf(store, 'icu')).toHaveLength(3);
    const believing = writFor('scribe', { scopes: ['memory:ward:**'] });
    const scribe = trajectory.memory({ space: 'ward', writ: believing });
    expect(await scribe.erase({ subject: 'p8', reason: 'r' })).toMatchObject({
      reason: 'invalid_authority',
    });
    expect(await believed()).toEqual(rest);
  });

  near('its writ covers the space; what is refused names nobody', async () => {
    const ward = await begun(stores);
    const { store, trajectory, memory } = ward;
    await told(ward);
    const said = { subject: WHO, predicate: 'drug' };
    for (const scopes of [
      ['erase:memory:other'],
      ['memory:ward:**'],
      ['erase:/**'],
      ['erase:entry:*'],
    ]) {
      const other = writFor('other', { actions: ['assize.erase'], scopes, nonce: scopes[0]! });
      const input = { beliefs: [{ space: 'ward', ...said }], reason: 'r', writ: other };
      const ruling = await trajectory.erase(input);
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
      expect(foundIn((ruling as { entry: EntryRow }).entry.payload, SECRETS)).toEqual([]);
    }
    expect((await memory.recall(said)).facts).toHaveLength(1);
    const wrong = async (beliefs: unknown) =>
      trajectory.erase({ beliefs: beliefs as never, reason: 'r', writ: officer }).then(
        () => 'done',
        (error: { code: string; message: string }) => [error.code, foundIn(error.message, SECRETS)],
      );
    const length = trajectory.length;
    for (const beliefs of [
      [],
      [null],
      'all',
      [{ space: 'ward' }],
      [{ space: '', ...said }],
      [{ space: 'ward', subject: 'A\u030a' }],
    ])
      expect(await wrong(beliefs)).toEqual(['bad_intent', []]);
    expect(await wrong([{ space: 'ward', ...said, claim: 'penizillin 500' }])).toEqual([
      'bad_intent',
      [],
    ]);
    expect(await wrong([{ space: 'ward', ...said, claim: 'ab'.repeat(32) }])).toEqual([
      'not_found',
      [],
    ]);
    expect(await wrong([{ space: 'ward', ...said, subject: `${WHO}!` }])).toEqual([
      'nothing_to_erase',
      [],
    ]);
    expect(trajectory.length).toBe(length);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS);
    await store.close();
  });

  near('a slip in the name of a member, or a member without a value, erases nothing', async () => {
    const ward = await begun(stores);
    const { store, trajectory } = ward;
    await told(ward);
    const erasable = trajectory.memory({ space: 'ward', writ: officer });
    const [all, length] = [await rowsOf(store), trajectory.length];
    const claim = all.find(({ subject }) => subject === WHO)!.lineage;
    const refused = async (erase: () => Promise<unknown>): Promise<unknown> => {
      const answer = await Promise.resolve()
        .then(erase)
        .catch(({ code, message }) => ({ code, message }));
      expect(trajectory.length).toBe(length);
      expect(await rowsOf(store)).toEqual(all);
      return answer;
    };
    const valid = { from: day('2026-01-01'), to: day('2026-02-01') };
    const slips: (readonly [string, object])[] = [
      ['predicat', { predicat: 'drug' }],
      ['predicat', Object.create({ predicat: 'drug' })],
      ['valid', { predicate: 'drug', valid }],
      ['predicate', { predicate: undefined }],
      ['claim', { predicate: 'drug', claim: undefined }],
      ['Claim', { Claim: claim }],
    ];
    for (const [member, place] of slips) {
      const beliefs = [
        { space: 'ward', subject: 'p8' },
        Object.assign(Object.create(place), { space: 'ward', subject: WHO }),
      ];
      expect(
        await refused(() => trajectory.erase({ beliefs, reason: 'r', writ: officer })),
      ).toEqual({
        code: 'bad_intent',
        message: expect.stringContaining(`"${member}"`),
      });
      const forgotten = Object.assign(place, { subject: WHO, reason: 'r' });
      expect(await refused(() => erasable.erase(forgotten))).toEqual({
        code: 'bad_argument',
        message: expect.stringContaining(`erased.${member} must be left out`),
      });
    }
    const whole: readonly (readonly [string, object])[] = [
      ['entrys', { entrys: [all[0]!.lineage] }],
      ['place', Object.create({ place: ['/visits'] })],
      ['at', { at: undefined }],
      ['principal', { principal: undefined }],
    ];
    for (const [member, beside] of whole) {
      const beliefs = [{ space: 'ward', subject: WHO }];
      const erasure = Object.assign(Object.create(beside), beside, {
        beliefs,
        reason: 'r',
        writ: officer,
      });
      expect(await refused(() => trajectory.erase(erasure))).toEqual({
        code: 'bad_intent',
        message: expect.stringContaining(`its "${member}" must be left out`),
      });
    }
    for (const missing of ['subject', 'reason'])
      for (const without of [{}, { [missing]: undefined }]) {
        const { [missing]: _, ...rest } = { subject: WHO, reason: 'r' } as Record<string, string>;
        expect(await refused(() => erasable.erase({ ...rest, ...without } as never))).toEqual({
          code: 'bad_argument',
          message: `The argument erased.${missing} must be given; nothing was done.`,
        });
      }
    const elsewhere = { subject: WHO, space: 'other', reason: 'r' };
    expect(await refused(() => erasable.erase(elsewhere))).toMatchObject({ code: 'bad_argument' });
    await store.close();
  });

  near('a place is read as it was looked at, also where it inherits a member', async () => {
    const ward = await begun(stores);
    await told(ward);
    const memory = ward.trajectory.memory({ space: 'ward', writ: officer });
    const his = (await rowsOf(ward.store)).filter(
      ({ subject, predicate }) => subject !== WHO || predicate !== 'drug',
    );
    await committed(
      memory.erase(
        Object.assign(Object.create({ predicate: 'drug' }), { subject: WHO, reason: 'r' }),
      ),
    );
    expect(await rowsOf(ward.store)).toEqual(his);
    await ward.store.close();
  });
});

test('an action that now asserts otherwise is matched by its earlier assertion', async () => {
  let patient = WHO;
  const { declared } = clinic;
  const visit = { ...declared.actions.visit, beliefs: () => [{ ...said, subject: patient }] };
  const said = { verb: 'assert' as const, space: 'ward', predicate: 'weight', object: 'seen' };
  const changing = defineDomain({ ...declared, actions: { visit } } as typeof declared);
  const store = await openStore('memory:');
  const trajectory = (await runtimeOver(store, [changing]).create(changing, {
    trajectoryId: 't',
    writs: [writ],
  })) as Trajectory;
  await committed(
    trajectory.propose({
      ...intent('visit', { patient: WHO, weight: '81.3 kg' }, writ),
      role: 'nurse',
    }),
  );
  patient = 'p8';
  await committed(erasing(trajectory, {}));
  expect(foundIn(await exported(store), [WHO, '81.3 kg', 'seen'])).toEqual([]);
});
