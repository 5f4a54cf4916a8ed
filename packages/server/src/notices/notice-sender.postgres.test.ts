import { setTimeout as sleep } from 'node:timers/promises';
import { addMicros } from 'assize/internal/canon';
import type { WebhookConfig } from 'assize/internal/config';
import type { SideStore } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { afterEach, describe, expect, test } from 'vitest';
import { noticePorts } from '../../../../tests/support/ledger/notice-cards.ts';
import { deputised, desk, pay, waiting } from '../../../../tests/support/ledger/payments-desk.ts';
import { HandClock, runtimeOver } from '../../../../tests/support/ledger/runtime.ts';
import { onEveryStore } from '../../../../tests/support/ledger/stores.ts';
import { MailSink } from '../../../../tests/support/tools/mail-sink.ts';
import { type Answer, NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';
import { decidersIn } from './mail/deciders-in.ts';
import { NoticeSender, type NoticeSenderOptions, tallyOf } from './notice-sender.ts';
import { openProposalsIn } from './open-proposals.ts';
import { pagesOf, waitingKind } from './queue/delivery-rows.ts';
import { FailedNotices } from './queue/failed-notices.ts';
import { type Addressee, receiversOf } from './receivers.ts';
import { remindedOf } from './said.ts';

/** The options of a sender, with its receivers as a configuration has them. */
interface Configured extends Partial<NoticeSenderOptions> {
  readonly webhooks?: readonly WebhookConfig[];
  readonly principals?: ReadonlyMap<string, Addressee>;
}

const secret = 'a-secret-of-24-characters';
const fail: Answer = (response) => void response.writeHead(500).end();

onEveryStore(({ newPlace }) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function sinkOf(answer?: Answer): Promise<NoticeSink> {
    const sink = await NoticeSink.open(answer);
    closing.push(() => sink[Symbol.asyncDispose]());
    return sink;
  }

  async function opened(): Promise<{ store: Store; assize: Assize }> {
    const store = await newPlace().open();
    return { store, assize: runtimeOver(store, [desk]) };
  }

  const to = (sink: NoticeSink) => ({ url: sink.url, secret, allowPrivate: true });

  /** Options of a sender that looks and tries again after some milliseconds. */
  function optionsOf(
    store: Store,
    assize: Assize,
    configured: Configured = {},
  ): NoticeSenderOptions {
    const { webhooks = [], principals = new Map(), ...options } = configured;
    return {
      store,
      receivers: receiversOf(webhooks, principals),
      openProposals: openProposalsIn(assize, () => undefined),
      decidersOf: decidersIn(assize),
      pageOf: (path) => `https://assize.example${path}`,
      rulingOf: (row) => assize.rulingAt(row),
      ...noticePorts(store, assize, [desk]),
      onFailure: () => undefined,
      pollMs: 10,
      retry: { firstMs: 5, maxMs: 20, attempts: 4 },
      ...options,
    };
  }

  const optionsFor: Map<NoticeSender, NoticeSenderOptions> = new Map();

  async function sender(...given: Parameters<typeof optionsOf>): Promise<NoticeSender> {
    const options = optionsOf(...given);
    const sender = new NoticeSender(options);
    optionsFor.set(sender, options);
    closing.push(() => sender.stop(100));
    await sender.start();
    return sender;
  }

  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + 8_000;
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`it does not happen: ${holds}`);
      await sleep(5);
    }
  }

  const idle = (one: NoticeSender, delivered: number): Promise<void> =>
    until(async () => {
      const { store, receivers } = optionsFor.get(one)!;
      const ids = receivers.map(({ id }) => id);
      return (
        one.counts.delivered >= delivered &&
        one.counts.sending === 0 &&
        (await tallyOf(store, ids)).waiting === 0
      );
    });

  async function rowsOf(store: Store, kind: string): Promise<number> {
    let count = 0;
    for await (const page of pagesOf(store, kind, 1_000)) count += page.length;
    return count;
  }

  test('each webhook hears once of a proposal that waits, and of its end', async () => {
    const { store, assize } = await opened();
    const [left, right] = [await sinkOf(), await sinkOf()];
    const one = await sender(store, assize, { webhooks: [to(left), to(right)] });
    await pay(assize, 'small', 1);
    await pay(assize, 't', 900.25, 'a memo');
    const { id, payload } = await waiting(assize, 't');
    one.wake();
    await idle(one, 2);
    await (await assize.open('t')).approvals.approve(id, { principal: 'boss:ann', method: 'test' });
    one.wake();
    await idle(one, 4);
    for (const { received } of [left, right]) {
      const [requested, resolved] = received;
      expect(received).toHaveLength(2);
      expect(requested!.body).toEqual({
        type: 'approval.requested',
        id: requested!.id,
        trajectory_id: 't',
        pending_id: id,
        request_id: id,
        of: 'proposal',
        channel: 'boss',
        reason: 'invariant_escalated',
        detail: '/payments/0: over 100: a memo',
        action: 'pay',
        digest: payload.digest,
        title: 'pay',
        fields: [],
        effect: 'Changes the state. No tool is called.',
        is_gated: false,
        requester: 'clerk',
        rule: 'LARGE',
        expires: null,
        approvals: 1,
        approved_by: [],
        url: `https://assize.example/inbox/${id}`,
      });
      expect(resolved!.body).toMatchObject({
        ...{ type: 'approval.resolved', pending_id: id, request_id: id, outcome: 'committed' },
        ruling: { ruling: 'committed', request_id: id },
      });
      expect(JSON.stringify(received)).not.toContain('900.25');
    }
    expect(left.received[0]!.id).not.toBe(right.received[0]!.id);
    expect((await store.sideList('notice/delivered', { limit: 10 })).length).toBe(4);
  });

  test('a receiver that fails gets the same notice again, until it takes it', async () => {
    const { store, assize } = await opened();
    const sink = await sinkOf((response, n) => (n < 3 ? fail(response, n) : void response.end()));
    const failures: unknown[] = [];
    await pay(assize, 't', 900);
    const one = await sender(store, assize, {
      webhooks: [to(sink)],
      onFailure: (error) => failures.push(error),
    });
    await idle(one, 1);
    expect(sink.received.map(({ id }) => id)).toEqual(Array(3).fill(sink.received[0]!.id));
    expect(failures).toMatchObject([{ code: 'receiver_refused' }, { code: 'receiver_refused' }]);
    expect(one.counts).toMatchObject({ delivered: 1, failed: 0 });
  });

  test('a notice is given up after its last attempt, and listed', async () => {
    const { store, assize } = await opened();
    const sink = await sinkOf(fail);
    await pay(assize, 't', 900);
    const one = await sender(store, assize, { webhooks: [to(sink)] });
    await until(() => one.counts.failed === 1);
    const { id: entry } = await waiting(assize, 't');
    const failed = new FailedNotices(store, receiversOf([to(sink)], new Map()), systemClock, () =>
      one.wake(),
    );
    const { notices } = await failed.list({ limit: 10 });
    const error = { code: 'receiver_refused', detail: 'The webhook answered with the status 500.' };
    const { origin: shown } = new URL(sink.url);
    const [{ id } = { id: '' }] = sink.received;
    const common = { type: 'approval.requested', isConfigured: true };
    expect(notices).toMatchObject([{ ...common, id, entry, attempts: 4, shown, error }]);
    expect(sink.received).toHaveLength(4);
  });

  test('a receiver that is down or slow delays no other', async () => {
    const { store, assize } = await opened();
    const [hanging, good] = [await sinkOf(() => undefined), await sinkOf()];
    for (let n = 0; n < 12; n += 1) await pay(assize, `t${n}`, 900);
    await sender(store, assize, {
      webhooks: [{ url: 'http://127.0.0.1:1/', secret, allowPrivate: true }, to(hanging), to(good)],
    });
    await until(() => good.received.length === 12);
    expect(new Set(good.received.map(({ body }) => body.trajectory_id)).size).toBe(12);
    expect(hanging.received.length).toBeLessThanOrEqual(4);
  });

  test('a webhook with channels gets the notices of these alone', async () => {
    const { store, assize } = await opened();
    const [boss, other] = [await sinkOf(), await sinkOf()];
    const webhooks = [
      { ...to(boss), channels: ['boss'] },
      { ...to(other), channels: ['auditor'] },
    ];
    const one = await sender(store, assize, { webhooks });
    await pay(assize, 't', 900);
    const { id } = await waiting(assize, 't');
    await (await assize.open('t')).approvals.reject(id, {
      principal: 'boss:ann',
      method: 'test',
      reason: 'no',
    });
    await idle(one, 2);
    expect(boss.received.map(({ body }) => [body.type, body.reason]).sort()).toEqual([
      ['approval.requested', 'invariant_escalated'],
      ['approval.resolved', 'counselor_rejected'],
    ]);
    expect(other.received).toEqual([]);
  });

  test('of entries before the first start, only open proposals are sent', async () => {
    const { store, assize } = await opened();
    for (const name of ['decided', 'open']) await pay(assize, name, 900);
    const { id } = await waiting(assize, 'decided');
    await (await assize.open('decided')).approvals.approve(id, {
      principal: 'boss:ann',
      method: 'test',
    });
    const sink = await sinkOf();
    const one = await sender(store, assize, { webhooks: [to(sink)] });
    await idle(one, 1);
    await pay(assize, 'later', 900);
    await idle(one, 2);
    expect(sink.received.map(({ body }) => body.trajectory_id)).toEqual(['open', 'later']);
  });

  test('a stopped sender leaves what it had not sent, and another sends it', async () => {
    const { store, assize } = await opened();
    const sink = await sinkOf(() => undefined);
    await pay(assize, 't', 900);
    const one = await sender(store, assize, { webhooks: [to(sink)] });
    await until(() => sink.received.length === 1);
    await one.stop(50);
    sink.answer = (response) => void response.end();
    const other = await sender(store, assize, { webhooks: [to(sink)] });
    await idle(other, 1);
    expect(sink.received.map(({ id }) => id)).toEqual([sink.received[0]!.id, sink.received[0]!.id]);
  });

  test('a notice that a dead server has claimed is sent when its claim ends', async () => {
    const { store, assize } = await opened();
    const [sink, clock] = [await sinkOf(), new HandClock()];
    const webhooks = [to(sink)];
    const receiver = receiversOf(webhooks, new Map())[0]!.id;
    await pay(assize, 't', 900);
    // A server that ends between its claim and the request.
    const dying: SideStore = {
      sideGet: (...args) => store.sideGet(...args),
      sideList: (...args) => store.sideList(...args),
      sidePut: async (changes) => {
        const isPut = await store.sidePut(changes);
        if (changes[1]?.body?.includes('"by"') === true) await new Promise(() => undefined);
        return isPut;
      },
    };
    const dead = new NoticeSender({
      ...optionsOf(store, assize, { webhooks, clock }),
      store: { ...bound(store), ...dying } as Store,
    });
    await dead.start();
    await until(async () => {
      const [row] = await store.sideList(waitingKind(receiver), { limit: 1 });
      return row?.body.includes('"by"') === true;
    });
    const one = await sender(store, assize, { webhooks, clock });
    await sleep(60);
    expect(sink.received).toEqual([]);
    clock.at = addMicros(clock.at, 61_000_000);
    await idle(one, 1);
    expect(sink.received).toHaveLength(1);
  });

  test('notices that a receiver never takes delay no later ones', async () => {
    const { store, assize } = await opened();
    const sink = await sinkOf((response) =>
      response.writeHead(sink.received.at(-1)!.body.trajectory_id === 'later' ? 200 : 500).end(),
    );
    for (let n = 0; n < 130; n += 1) await pay(assize, `t${n}`, 900);
    const one = await sender(store, assize, {
      webhooks: [to(sink)],
      retry: { firstMs: 3_600_000, maxMs: 3_600_000, attempts: 20 },
    });
    await until(() => sink.received.length === 130);
    await pay(assize, 'later', 900);
    one.wake();
    await until(() => one.counts.delivered === 1);
    expect(sink.received.at(-1)!.body.trajectory_id).toBe('later');
  });

  test('a receiver that is added later gets the open proposals', async () => {
    const { store, assize } = await opened();
    const [left, right] = [await sinkOf(), await sinkOf()];
    for (const name of ['decided', 'open']) await pay(assize, name, 900);
    const old = await sender(store, assize, { webhooks: [to(left)] });
    await idle(old, 2);
    const { id } = await waiting(assize, 'decided');
    await (await assize.open('decided')).approvals.approve(id, {
      principal: 'boss:ann',
      method: 'test',
    });
    await until(() => left.received.length === 3);
    // The server without it goes on beside the new one.
    const one = await sender(store, assize, { webhooks: [to(left), to(right)] });
    await until(() => right.received.length === 1);
    for (const name of ['later', 'last']) {
      await pay(assize, name, 900);
      old.wake();
      await until(() => left.received.some(({ body }) => body.trajectory_id === name));
    }
    await until(() => right.received.length === 3);
    await idle(one, 1);
    const names = (sink: NoticeSink): string[] =>
      sink.received.map(({ body }) => body.trajectory_id);
    expect(names(right)).toEqual(['open', 'later', 'last']);
    expect(names(left).toSorted()).toEqual(['decided', 'decided', 'last', 'later', 'open']);
  });

  test('failed notices are sent again: one, or all of a receiver', async () => {
    const { store, assize } = await opened();
    const [sink, other] = [await sinkOf(fail), await sinkOf(fail)];
    const webhooks = [to(sink), to(other)];
    for (const name of ['a', 'b', 'c']) await pay(assize, name, 900);
    const one = await sender(store, assize, { webhooks });
    await until(() => one.counts.failed === 6);
    const receivers = receiversOf(webhooks, new Map());
    const failed = new FailedNotices(store, receivers, systemClock, () => one.wake());
    const first = await failed.list({ limit: 4 });
    const rest = await failed.list({ limit: 4, after: first.next });
    expect([first.notices.length, rest.notices.length, rest.next]).toEqual([4, 2, undefined]);
    const all = [...first.notices, ...rest.notices];
    const [mine] = receivers.map(({ id }) => all.filter(({ receiver }) => receiver === id));
    sink.answer = (response) => void response.end();
    const { receiver, id } = mine![0]!;
    expect(await failed.retry(receiver, id)).toBe(1);
    expect(await failed.retry(receiver, id)).toBe(0);
    await idle(one, 1);
    expect(sink.received.at(-1)!.id).toBe(id);
    expect(await failed.retry(receiver)).toBe(2);
    await idle(one, 3);
    expect(await failed.retry('webhook:none')).toBeUndefined();
    expect((await failed.list({ limit: 10 })).notices.map((notice) => notice.receiver)).toEqual(
      Array(3).fill(receivers[1]!.id),
    );
  });

  test('rows of ended notices and of receivers without a server are deleted', async () => {
    const { store, assize } = await opened();
    const [good, bad, gone] = [await sinkOf(), await sinkOf(fail), await sinkOf(() => undefined)];
    const [clock, day] = [new HandClock(), 86_400_000];
    const [kept, dropped] = [[to(good), to(bad)], to(gone)];
    const [, , removed] = receiversOf([...kept, dropped], new Map()).map(({ id }) => id);
    const retry = { firstMs: 0, maxMs: 0, attempts: 2 };
    const both = await sender(store, assize, { webhooks: [...kept, dropped], clock, retry });
    await pay(assize, 't', 900);
    both.wake();
    await until(
      () => both.counts.failed === 1 && both.counts.delivered === 1 && gone.received.length === 1,
    );
    await both.stop(10);
    const one = await sender(store, assize, { webhooks: kept, clock, retry });
    const counts = async (): Promise<number[]> => {
      await one.sweep();
      const kinds = ['notice/delivered', 'notice/failed', 'notice/receiver', waitingKind(removed!)];
      return Promise.all(kinds.map((kind) => rowsOf(store, kind)));
    };
    const after: number[][] = [];
    for (const days of [6, 2, 7, 74, 2]) {
      clock.forward(days * day);
      after.push(await counts());
    }
    expect(after).toEqual([
      [1, 1, 3, 1],
      [1, 1, 2, 0],
      [0, 1, 2, 0],
      [0, 1, 2, 0],
      [0, 0, 2, 0],
    ]);
  });

  describe('mail', () => {
    const mailed = new Map([
      ['boss:ann', { email: 'ann@example.com', kinds: ['counselor'] }],
      ['boss:bob', { email: 'bob@example.com', kinds: ['counselor', 'admin'] }],
      ['auditor:eve', { email: 'eve@example.com', kinds: ['counselor'] }],
      ['boss:idle', { kinds: ['counselor'] }],
      ['boss:agent', { email: 'agent@example.com', kinds: ['agent'] }],
    ] as const) as ReadonlyMap<string, Addressee>;

    async function mailTo(assize: Assize, store: Store, delivered: number): Promise<MailSink> {
      const sink = await MailSink.open();
      closing.push(() => sink[Symbol.asyncDispose]());
      const mail = { smtp: sink.url, from: 'Assize <notices@assize.example>' };
      const one = await sender(store, assize, { mail, principals: mailed });
      await idle(one, delivered);
      return sink;
    }

    test('goes to each counselor with an address that may decide', async () => {
      const { store, assize } = await opened();
      await pay(assize, 't', 900.25);
      const sink = await mailTo(assize, store, 3);
      expect(sink.delivered.map(({ to: [address] }) => address).sort()).toEqual([
        'ann@example.com',
        'bob@example.com',
      ]);
      const { id } = await waiting(assize, 't');
      for (const { text, from, id: messageId } of sink.delivered) {
        expect(from).toBe('notices@assize.example');
        expect(messageId).toMatch(/^<msg_[0-9a-f]{32}@assize\.example>$/);
        expect(unfolded(text)).toContain(`https://assize.example/inbox/${id}`);
        expect(text).toMatch(/^Subject: Decision needed: pay\r$/m);
        expect(text).not.toContain('900.25');
        const said = unfolded(text);
        for (const line of ['If you approve: Changes the state.', 'Asked by: clerk', 'Rule: LARGE'])
          expect(said).toContain(`> ${line}`);
      }
      expect(new Set(sink.delivered.map(({ id: messageId }) => messageId)).size).toBe(2);
    });

    test.each([
      ['a header', 'x\r\nBcc: eve@example.com\r\n\r\nbody'],
      ['an end of the message', 'x\r\n.\r\nMAIL FROM:<eve@example.com>\r\n'],
      ['a reversed and hidden text', 'pay \u202eevE\u200b \u0007'],
      ['a long text', `${'y'.repeat(5_000)}\nSubject: other`],
    ])('a detail with %s adds no header and no recipient', async (_, memo) => {
      const { store, assize } = await opened();
      await pay(assize, 't', 900, memo);
      const { delivered } = await mailTo(assize, store, 3);
      expect(delivered).toHaveLength(2);
      for (const { text, to: recipients } of delivered) {
        expect(recipients).toHaveLength(1);
        expect(recipients[0]).toMatch(/^(ann|bob)@example\.com$/);
        const [head] = text.split('\r\n\r\n') as [string];
        expect(head).not.toMatch(/bcc|eve/i);
        expect(text.match(/^subject:/gim)).toHaveLength(1);
        expect(text.length).toBeLessThan(4_000);
        expect(unfolded(text)).not.toMatch(/[\p{Cf}]|\p{Cc}(?<![\r\n])/u);
      }
    });

    test('goes to a deputy when it may decide, once, also after a restart', async () => {
      const store = await newPlace().open();
      const clock = new HandClock();
      const assize = runtimeOver(store, [deputised], { ports: { clock } });
      await pay(assize, 't', 900, 'rent', deputised);
      const [mails, hook] = [await MailSink.open(), await sinkOf()];
      closing.push(() => mails[Symbol.asyncDispose]());
      const addresses = (): string[] => mails.delivered.map(({ to: [address = ''] }) => address);
      const principals = new Map<string, Addressee>([
        ['boss:ann', { email: 'ann@example.com', kinds: ['counselor'] }],
        ['owner:olga', { email: 'olga@example.com', kinds: ['counselor'] }],
      ]);
      const mail = { smtp: mails.url, from: 'notices@assize.example' };
      const configured = { clock, mail, principals, webhooks: [to(hook)] };
      const given = { ...configured, ...noticePorts(store, assize, [deputised]) };
      const first = await sender(store, assize, given);
      await idle(first, 3);
      expect(addresses()).toEqual(['ann@example.com']);
      clock.forward(3_599_999);
      await pay(assize, 'another', 900, 'rent', deputised);
      first.wake();
      await idle(first, 6);
      await first.stop(100);
      expect(addresses()).toEqual(['ann@example.com', 'ann@example.com']);

      clock.forward(1);
      const second = await sender(store, assize, given);
      await idle(second, 2);
      await second.stop(100);
      clock.forward(60_000);
      await pay(assize, 'third', 900, 'rent', deputised);
      await idle(await sender(store, assize, given), 3);
      expect(addresses().filter((address) => address.startsWith('olga'))).toHaveLength(1);
      expect(mails.delivered[2]?.text).toMatch(/^Subject: Decision needed: pay\r$/m);
      const [due] = hook.of('approval.reminder');
      const [asked] = hook.of('approval.requested');
      expect(hook.of('approval.reminder')).toHaveLength(1);
      const from = '2026-03-23T10:00:00.000000Z';
      expect(due).toMatchObject({
        ...{ type: 'approval.reminder', pending_id: asked.pending_id },
        deputies: [{ of: 'boss', kind: 'owner', from }],
      });
      expect(due.id).not.toBe(asked.id);
    });

    /** A desk with deputies whose requests end after two hours. */
    async function deputisedDesk() {
      const [store, clock] = [await newPlace().open(), new HandClock()];
      const approvals = { timeoutMs: 7_200_000 };
      const assize = runtimeOver(store, [deputised], { ports: { clock }, approvals });
      const [mails, hook] = [await MailSink.open(), await sinkOf()];
      closing.push(() => mails[Symbol.asyncDispose]());
      const principals = new Map<string, Addressee>([
        ['boss:ann', { email: 'ann@example.com', kinds: ['counselor'] }],
        ['owner:olga', { email: 'olga@example.com', kinds: ['counselor'] }],
      ]);
      const mail = { smtp: mails.url, from: 'notices@assize.example' };
      const ports = noticePorts(store, assize, [deputised], clock);
      const given = { clock, mail, principals, webhooks: [to(hook)], ...ports };
      const subjects = (): string[] =>
        mails.delivered.map(
          ({ to: [address], text }) => `${address} ${/^Subject: ([^:]*)/m.exec(text)?.[1]}`,
        );
      await pay(assize, 't', 900, 'rent', deputised);
      return { store, clock, assize, given, hook, subjects };
    }

    test('one reminder at one time says that a deputy may decide and that it ends', async () => {
      const { store, clock, assize, given, hook, subjects } = await deputisedDesk();
      const one = await sender(store, assize, { ...given, reminderSeconds: 3_600 });
      await idle(one, 3);
      clock.forward(3_600_000);
      one.wake();
      await idle(one, 6);
      expect(subjects().sort()).toEqual([
        'ann@example.com Decision needed',
        'ann@example.com Ends soon',
        'olga@example.com Ends soon',
      ]);
      const [due, ...more] = hook.of('approval.reminder');
      expect(more).toEqual([]);
      expect(due.deputies).toMatchObject([{ kind: 'owner' }]);
      const said = remindedOf({ deputies: due.deputies, isEnding: true });
      expect(said).toBe('The owner may decide now. It ends soon.');
    });

    test('goes to a deputy that becomes due while its first notice is handled', async () => {
      const { store, clock, assize, given, subjects } = await deputisedDesk();
      clock.forward(3_599_999);
      const decidersOf: NoticeSenderOptions['decidersOf'] = async (...asked) => {
        const found = await decidersIn(assize)(...asked);
        if (asked[2].includes('owner:olga')) clock.forward(1);
        return found;
      };
      const one = await sender(store, assize, { ...given, webhooks: [], decidersOf });
      await until(() => subjects().length >= 2);
      await idle(one, 3);
      expect(subjects().sort()).toEqual([
        'ann@example.com Decision needed',
        'olga@example.com Decision needed',
      ]);
    });

    test('is not sent for a proposal that was decided in the meantime', async () => {
      const { store, assize } = await opened();
      const down = await sender(store, assize, {
        mail: { smtp: 'smtp://127.0.0.1:1', from: 'notices@assize.example' },
        principals: mailed,
        retry: { firstMs: 50, maxMs: 50, attempts: 100 },
      });
      await pay(assize, 't', 900);
      await until(
        async () => (await rowsOf(store, waitingKind(receiversOf([], mailed)[0]!.id))) > 0,
      );
      await down.stop(100);
      const { id } = await waiting(assize, 't');
      await (await assize.open('t')).approvals.approve(id, {
        principal: 'boss:ann',
        method: 'test',
      });
      const sink = await mailTo(assize, store, 1);
      expect(sink.delivered).toEqual([]);
    });
  });
});

test.each([
  [
    'the same webhook twice',
    [
      { url: 'https://a.example/', secret },
      { url: 'https://a.example/', secret },
    ],
  ],
  ['a webhook without TLS', [{ url: 'http://a.example/', secret }]],
])('%s is refused', (_, webhooks) => {
  expect(() => receiversOf(webhooks, new Map())).toThrow(
    expect.objectContaining({ code: 'bad_config', name: 'NoticeError' }),
  );
});

/** The text of a message without the line breaks of its encoding. */
function unfolded(text: string): string {
  return text.replaceAll('=\r\n', '');
}

/** The methods of a store, bound to it. */
function bound(store: Store): Partial<Store> {
  return {
    logSize: () => store.logSize(),
    unlogged: (limit) => store.unlogged(limit),
    integrate: (step) => store.integrate(step),
    logNodes: (...args) => store.logNodes(...args),
    logIndex: (id) => store.logIndex(id),
    logged: (...args) => store.logged(...args),
    resolve: (id) => store.resolve(id),
  };
}
