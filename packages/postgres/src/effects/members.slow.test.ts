import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyOf, loggedOf, writeOf } from '@assize/testing/internal/effect-rows.ts';
import { isFenced, joined } from '@assize/testing/internal/laws/sharing.ts';
import { claimsAt, liveWork, type Member } from '@assize/testing/internal/members.ts';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresStore } from '../index.ts';

const WRITTEN = { status: 'written' };

/** Resolves at the member's first notification. */
function newsOf({ membership }: Member): Promise<void> {
  return new Promise((resolve) => membership.onEvents(resolve));
}

// The end of group memberships, by a server that ends them or that ends itself.
withPostgres(
  'members',
  (postgres) => {
    /**
     * Two handles on one new schema. The connections of the first handle have the schema's name.
     */
    async function twoHandles(): Promise<{
      left: PostgresStore;
      right: PostgresStore;
      name: string;
    }> {
      const url = postgres.url();
      const name = postgres.schemaOf(url);
      const [left, right] = [
        await openPostgres({ url, applicationName: name }),
        await openPostgres({ url }),
      ];
      return { left, right, name };
    }

    const SHARING = "application_name = $1 AND query LIKE '%share_effects%'";
    const TERMINATE = 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE';

    /**
     * A session that has run the statements, and that stays open until the returned function is
     * called.
     */
    async function holding(statements: string): Promise<() => Promise<void>> {
      const name = `holding ${statements.length} ${Math.random()}`;
      const held = postgres
        .query(`SET application_name TO '${name}'; BEGIN; ${statements}; SELECT pg_sleep(60)`)
        .catch((error: { code?: string }) => error.code);
      const isHeld =
        "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'PgSleep'";
      while ((await postgres.query(isHeld, [name])).length === 0);
      return async () => {
        await postgres.query(`${TERMINATE} application_name = $1`, [name]);
        expect(await held).toBe('57P01');
      };
    }

    test('a member is lost immediately when its connection ends, for any lease', async () => {
      const { left, right, name } = await twoHandles();
      const [gone, other] = [await joined(left), await joined(right)];
      const epoch = await gone.begin('r:/a');
      expect(await left.logEffects(writeOf(gone.fence, epoch))).toEqual(WRITTEN);
      const news = newsOf(gone);
      expect(await postgres.query(`${TERMINATE} ${SHARING}`, [name])).toHaveLength(1);
      await news;
      expect(await gone.look()).toBeUndefined();
      expect(gone.membership.whyEnded?.()).toMatchObject({
        code: 'store_unreachable',
        cause: { code: '57P01' },
      });
      expect(other.membership.whyEnded?.()).toBeUndefined();
      await other.look();
      expect(other.heard.at(-1)).toMatchObject({
        is: 'taken',
        gone: gone.fence,
        fence: other.fence,
      });
      // The handle has other connections that report the fence.
      expect(await left.logEffects({ fence: gone.fence, ended: [epoch] })).toEqual({
        status: 'fenced',
      });
      const again = await joined(left);
      expect(again.fence).toBeGreaterThan(other.fence);
      await again.say();
      const fences = [gone, other, again].map(({ fence }) => fence);
      expect(liveWork(again.heard, fences)).toMatchObject([
        { epoch, fence: other.fence, claims: ['r:/a'] },
      ]);
      await gone.membership.release();
      await left.close();
      expect(again.membership.whyEnded?.()).toMatchObject({ code: 'store_closed' });
      await right.close();
    });

    test('a user with the rights that the guide lists can do all a member does', async () => {
      const url = postgres.url();
      await (await openPostgres({ url })).close();
      const schema = postgres.schemaOf(url);
      const user = `${schema}_user`;
      const guide = readFileSync(
        join(import.meta.dirname, '../../../../docs/guide/postgres.md'),
        'utf8',
      );
      const grants = guide.match(/^GRANT .*;$/gm)!.join('\n');
      await postgres.query(`CREATE ROLE "${user}" LOGIN;
        ${grants.replaceAll(/\bassize\b/g, `"${schema}"`).replaceAll(/\bagents\b/g, `"${user}"`)}`);
      const asUser = new URL(url);
      asUser.username = user;
      const store = await openPostgres({ url: asUser.href });
      const [gone, other] = [await joined(store), await joined(store)];
      const [open, over] = [await gone.begin('r:/a'), await gone.begin('r:/b')];
      expect(await store.logEffects(writeOf(gone.fence, open))).toEqual(WRITTEN);
      expect(await store.logEffects({ ...writeOf(gone.fence, over), ended: [over] })).toEqual(
        WRITTEN,
      );
      await gone.say(
        { is: 'grown', epoch: open, claims: claimsAt('r:/c') },
        { is: 'ended', epoch: over },
      );
      // A member that ends in order leaves its transaction to the other member: the other member
      // evicts ended transactions.
      await gone.membership.release();
      await other.look();
      await other.look();
      expect(liveWork(other.heard, [gone.fence, other.fence])).toMatchObject([
        { epoch: open, fence: other.fence },
      ]);
      expect(await store.logEffects({ fence: other.fence, ended: [open] })).toEqual(WRITTEN);
      await other.membership.release();
      await (await store.leaseEffects()).release();
      const change = { kind: 'k', key: 'a', expected: null, body: '1' };
      expect(await store.sidePut([change])).toBe(true);
      const { version } = (await store.sideGet('k', 'a'))!;
      expect(await store.sidePut([{ ...change, expected: version, body: null }])).toBe(true);
      await store.close();
      await postgres.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    });

    test('a member that loses its connection in a publish has an unknown outcome', async () => {
      const { left, right, name } = await twoHandles();
      const [gone, other] = [await joined(left), await joined(right)];
      const epoch = await gone.begin('r:/a');
      const letGo = await holding(`LOCK TABLE "${name}".effect_count`);
      const saying = gone
        .say({ is: 'grown', epoch, claims: claimsAt('r:/b') })
        .catch((error: unknown) => error);
      const waits = `SELECT FROM pg_stat_activity WHERE ${SHARING} AND wait_event_type = 'Lock'`;
      while ((await postgres.query(waits, [name])).length === 0);
      await postgres.query(`${TERMINATE} ${SHARING}`, [name]);
      expect(await saying).toMatchObject({ code: 'store_unreachable', retryable: true });
      expect(await gone.say()).toBeUndefined();
      await letGo();
      await other.look();
      expect(liveWork(other.heard, [gone.fence, other.fence])).toMatchObject([
        { epoch, fence: other.fence },
      ]);
      await left.close();
      await right.close();
    });

    test('of members that adopt concurrently one succeeds, and is notified', async () => {
      const { left, right, name } = await twoHandles();
      const [gone, ...others] = [
        await joined(right),
        await joined(left),
        await joined(left),
        await joined(left),
      ];
      const epoch = await gone.begin('r:/a');
      const elsewhere =
        "application_name <> $1 AND query LIKE '%share_effects%' AND pid <> pg_backend_pid()";
      await postgres.query(`${TERMINATE} ${elsewhere}`, [name]);
      const letGo = await holding(`SELECT FROM "${name}".effect_event FOR UPDATE`);
      const looks = Promise.all(others.map((member) => member.look()));
      const waits = `SELECT FROM pg_stat_activity WHERE ${SHARING} AND wait_event_type = 'Lock'`;
      while ((await postgres.query(waits, [name])).length < others.length);
      await letGo();
      await looks;
      for (const member of others) await member.say();
      const fences = others.map(({ fence }) => fence);
      for (const { heard } of others) {
        expect(heard.filter(({ is }) => is === 'taken')).toHaveLength(1);
        expect(heard).toEqual(others[0]!.heard);
        expect(liveWork(heard, fences)).toMatchObject([{ epoch, fence: heard.at(-1)!.fence }]);
      }
      await left.close();
      await right.close();
    });

    test('a killed server ends all memberships, and the next member resumes work', async () => {
      const { left, right } = await twoHandles();
      const members = [await joined(left), await joined(right)] as const;
      const [open, over] = [await members[0].begin('r:/a'), await members[1].begin('r:/b')];
      await members[1].begin('r:/c');
      expect(await left.logEffects(writeOf(members[0].fence, open))).toEqual(WRITTEN);
      expect(await right.logEffects({ ...writeOf(members[1].fence, over), ended: [over] })).toEqual(
        WRITTEN,
      );
      const news = Promise.all(members.map(newsOf));
      await postgres.server.stop('immediate');
      await news;
      await postgres.server.start();
      for (const member of members) expect(await member.look()).toBeUndefined();
      // Before another member has joined.
      for (const { fence } of members) expect(await isFenced(right, fence)).toBe(true);
      const write = {
        fence: members[0].fence,
        records: [{ epoch: open, place: 1, record: 'late' }],
      };
      expect(await left.logEffects(write)).toEqual({ status: 'fenced' });
      const next = await Promise.all([joined(left), joined(right)]);
      for (const member of next) await member.say();
      const first = Math.min(...next.map(({ fence }) => fence));
      expect(first).toBeGreaterThan(members[1].fence);
      for (const { heard } of next) {
        expect(heard).toEqual([
          { seq: expect.any(Number), is: 'resumed', epoch: open, fence: first },
        ]);
      }
      expect(await right.openEffects()).toEqual([loggedOf(open)]);
      expect(await right.effectKey(keyOf(open).key)).toEqual(keyOf(open));
      // An epoch that was given but not logged may be given again, because its owner can no longer
      // write.
      expect(await next[0]!.begin('r:/a')).toBeGreaterThan(over);
      await left.close();
      await right.close();
    });

    test('a restarted server has lost its members, and their work is adopted', async () => {
      const { left, right } = await twoHandles();
      const gone = [await joined(left), await joined(right)] as const;
      const epochs = [await gone[0].begin('r:/a'), await gone[1].begin('r:/b')];
      const news = Promise.all(gone.map(newsOf));
      await postgres.server.stop();
      await news;
      await postgres.server.start();
      const next = await joined(right);
      await next.say();
      expect(liveWork(next.heard, [next.fence])).toMatchObject([
        { epoch: epochs[0], fence: next.fence, claims: ['r:/a'] },
        { epoch: epochs[1], fence: next.fence, claims: ['r:/b'] },
      ]);
      for (const { fence } of gone) expect(await isFenced(left, fence)).toBe(true);
      expect(await next.begin('r:/c')).toBeGreaterThan(epochs[1]!);
      await left.close();
      await right.close();
    });

    test('a fence is issued once, even with crashes and asynchronous user commits', async () => {
      const url = postgres.url();
      await postgres.query('ALTER DATABASE postgres SET synchronous_commit = off');
      try {
        const store = await openPostgres({ url });
        const fences: number[] = [];
        for (let n = 0; n < 3; n++) {
          fences.push((await joined(store)).fence);
          await postgres.server.stop('killed');
          await postgres.server.start();
        }
        expect(fences).toEqual([1, 2, 3]);
        await store.close();
      } finally {
        await postgres.query('ALTER DATABASE postgres RESET synchronous_commit');
      }
    });

    test('a join or lease request during a restart waits, as reads and writes do', async () => {
      const store = await openPostgres({ url: postgres.url() });
      const before = await joined(store);
      for (const how of ['fast', 'immediate', 'killed'] as const) {
        await postgres.server.stop(how);
        const joining = joined(store);
        const asking = store.leaseEffects();
        await postgres.server.start();
        const one = await Promise.race([joining.then(({ membership }) => membership), asking]);
        await one.release();
        const fences = [await joining, await asking].map(({ fence }) => fence);
        expect(Math.min(...fences)).toBeGreaterThan(before.fence);
        await (await joining).membership.release();
        await (await asking).release();
      }
      await store.close();
    });

    test('a lock request with a terminated connection is repeated', async () => {
      const { left, right, name } = await twoHandles();
      const tenure = await right.leaseEffects();
      const joining = joined(left);
      const waiting = "application_name = $1 AND query LIKE 'SELECT pg_advisory_lock_shared%'";
      while (
        (await postgres.query(`${TERMINATE} ${waiting} AND wait_event_type = 'Lock'`, [name]))
          .length === 0
      );
      await tenure.release();
      expect((await joining).fence).toBeGreaterThan(tenure.fence);
      await left.close();
      await right.close();
    });

    test('a wait for an absent server ends on abort, and when the store is closed', async () => {
      const store = await openPostgres({ url: postgres.url() });
      await postgres.server.stop();
      try {
        const [giving, reason] = [new AbortController(), new Error('enough')];
        const { signal } = giving;
        const given = [store.joinEffects({ leaseMs: 1_000, signal }), store.leaseEffects(signal)];
        giving.abort(reason);
        for (const waiting of given) await expect(waiting).rejects.toBe(reason);
        const refused = [store.joinEffects({ leaseMs: 1_000 }), store.leaseEffects()];
        const closed = store.close();
        for (const waiting of refused)
          await expect(waiting).rejects.toMatchObject({ code: 'store_closed' });
        await closed;
      } finally {
        await postgres.server.start();
      }
    });

    test('a request to an absent server fails after the store’s last attempt', async () => {
      const store = await openPostgres({ url: postgres.url(), connectAttempts: 2 });
      await postgres.server.stop();
      try {
        const unreachable = { code: 'store_unreachable', retryable: true };
        await expect(store.joinEffects({ leaseMs: 1_000 })).rejects.toMatchObject(unreachable);
        await expect(store.leaseEffects()).rejects.toMatchObject(unreachable);
      } finally {
        await postgres.server.start();
        await store.close();
      }
    });

    test('a holder with an unnoticed lost lease is fenced by a join, despite locks', async () => {
      const { left, right, name } = await twoHandles();
      const tenure = await left.leaseEffects();
      expect(await left.logEffects(writeOf(tenure.fence, 1))).toEqual(WRITTEN);
      const letGo = await holding('SELECT pg_advisory_lock(0)');
      await postgres.query(
        `${TERMINATE} application_name = $1 AND query LIKE 'SELECT pg_advisory_lock%'`,
        [name],
      );
      const next = await joined(right);
      expect(await left.logEffects({ fence: tenure.fence, ended: [1] })).toEqual({
        status: 'fenced',
      });
      await next.say();
      expect(next.heard).toMatchObject([{ is: 'resumed', epoch: 1, fence: next.fence }]);
      await letGo();
      await left.close();
      await right.close();
    });

    test('a late member receives the last of repeated releases, with latest claims', async () => {
      const { left, right } = await twoHandles();
      const members = [await joined(left), await joined(right)];
      const [one] = members as [Member, Member];
      const epoch = await one.begin('r:/a', 'r:/b');
      /**
       * The events that a new member receives after every other member has received and
       * acknowledged them.
       */
      async function heardLater(): Promise<readonly object[]> {
        for (const member of [...members, ...members]) await member.say();
        await one.look();
        const later = await joined(right);
        await later.say();
        members.push(later);
        const fences = members.map(({ fence }) => fence);
        const works = members.map(({ heard }) => liveWork(heard, fences));
        expect(new Set(works.map((work) => JSON.stringify(work))).size).toBe(1);
        return later.heard.map(({ seq: _, fence: __, ...said }) => said);
      }
      const begun = { is: 'begun', epoch, claims: claimsAt('r:/a', 'r:/b') };
      const [of, own] = [{ is: 'left', epoch } as const, { is: 'own', epoch } as const];
      await one.say({ ...of, claims: claimsAt('r:/a') }, own, of, own, of);
      expect(await heardLater()).toEqual([begun, { ...of, claims: claimsAt('r:/a') }, of]);
      await one.say(own, of, own);
      expect(await heardLater()).toEqual([begun, { ...of, claims: claimsAt('r:/a') }, of, own]);
      await one.say({ ...of, claims: claimsAt('r:/b') });
      expect(await heardLater()).toEqual([begun, { ...of, claims: claimsAt('r:/b') }]);
      await left.close();
      await right.close();
    });

    test('a new member is notified of all of very many open transactions', async () => {
      const [url, many] = [postgres.url(), 60_000];
      // For example, transactions that wait for a human decision. Publishing them one by one took
      // quadratic time, and exceeded this timeout.
      const store = await openPostgres({ url, statementTimeoutMs: 10_000 });
      const schema = postgres.schemaOf(url);
      await postgres.query(`SET search_path TO "${schema}";
        INSERT INTO effect_transaction SELECT n, 't', '{}' FROM generate_series(1, ${many}) AS n;
        INSERT INTO effect_open SELECT n FROM generate_series(1, ${many}) AS n`);
      const one = await joined(store);
      await one.say();
      expect(one.heard.map((each) => 'epoch' in each && each.epoch)).toEqual(
        Array.from({ length: many }, (_, n) => n + 1),
      );
      expect(await one.begin('r:/a')).toBe(many + 1);
      await store.close();
    });

    test('a member is notified of events of others, and not of its own', async () => {
      const { left, right } = await twoHandles();
      const two = await joined(right);
      const one = await joined(left);
      let told = 0;
      const news = new Promise<void>((resolve) => {
        one.membership.onEvents(() => {
          told += 1;
          resolve();
        });
      });
      for (const place of ['r:/a', 'r:/b', 'r:/c']) await one.begin(place);
      // The server delivers notifications in the order of the events.
      await two.begin('r:/d');
      await news;
      expect(told).toBe(1);
      await left.close();
      await right.close();
    });

    test.each(['repeatable read', 'serializable'])(
      'members receive all concurrent events at any default isolation: %s',
      async (isolation) => {
        await postgres.query(
          `ALTER DATABASE postgres SET default_transaction_isolation = '${isolation}'`,
        );
        try {
          const { left, right } = await twoHandles();
          const members = await Promise.all(
            [left, left, right, right].map((store) => joined(store)),
          );
          const epochs = await Promise.all(
            members.map(async (member) => {
              const mine: number[] = [];
              for (let n = 0; n < 10; n++) mine.push(await member.begin('r:/a'));
              return mine;
            }),
          );
          expect(epochs.flat().toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: 40 }, (_, n) => n + 1),
          );
          const [gone, ...others] = members;
          await gone!.membership.release();
          for (const member of others) await member.say();
          const fences = members.map(({ fence }) => fence);
          for (const { heard } of others) {
            expect(heard.filter(({ is }) => is === 'begun')).toHaveLength(40);
            expect(liveWork(heard, fences).filter(({ fence }) => fence === gone!.fence)).toEqual(
              [],
            );
          }
          await left.close();
          await right.close();
        } finally {
          await postgres.query('ALTER DATABASE postgres RESET default_transaction_isolation');
        }
      },
    );

    test('a schema with the longest of names can be shared', async () => {
      const url = new URL(postgres.url());
      url.searchParams.set('schema', 'x'.repeat(63));
      const store = await openPostgres({ url: url.href });
      const [one, two] = [await joined(store), await joined(store)];
      const news = newsOf(two);
      await one.begin('r:/a');
      await news;
      await store.close();
    });
  },
  // Asynchronous commits reach the disk late.
  { own: true, settings: { wal_writer_delay: '10s' } },
);
