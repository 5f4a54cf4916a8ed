import { z } from 'zod';
import * as branches from '#tools/branches';
import * as browser from '#tools/browser';
import * as counsel from '#tools/counsel';
import * as declared from '#tools/declared';
import { fileResolver, fileScope, fileTools } from '#tools/files';
import * as http from '#tools/http';
import * as mail from '#tools/mail';
import { shellTool } from '#tools/shell';
import * as sql from '#tools/sql';
import { newFolder } from '../../support/tools/files-stage.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

const order = (): any => ({ reversibility: 'reversible', delivery: 'buffered', sink: 'queryable' });
const input = (): any => z.strictObject({ what: z.string() });

const declaration = (): any => ({
  name: 'shop.order',
  description: 'takes an order',
  input: { type: 'object', properties: { what: { type: 'string' } } },
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'queryable' },
  reads: ['shop:{what}'],
  writes: ['shop:{what}'],
  key: '{what}:{key}',
  execute: { call: 'take', args: { what: { $from: '/input/what' } } },
  compensate: { call: 'take', args: { $from: '/result' } },
  mitigate: { call: 'take', args: { $from: '/residue' } },
  reconcile: { call: 'take' },
});
const site = (): any => ({
  context: () => Promise.reject(new Error('gone')),
  allow: ['https://shop.example'],
  timeoutMs: 1_000,
});
const callables = (): any => ({ take: () => undefined });

const SPEC = 'a part of the declaration; declareTool refuses it';

export const TOOLS: Readonly<Record<string, Case | Exempt>> = {
  httpTool: takes(
    (options) => http.httpTool(options),
    () => [
      {
        name: 'shop.order',
        description: 'takes an order',
        input: input(),
        class: order(),
        reads: ['api:h.example:/a'],
        writes: ['api:h.example:/b'],
        method: 'PUT',
        url: 'https://h.example/orders/{what}',
        allow: ['h.example'],
        headers: { accept: 'application/json' },
        idempotencyHeader: 'Key',
        conflict: 'open',
        answer: 'json',
        bytesMax: 1_000,
        reconcile: { url: 'https://h.example/effects/{key}' },
        compensate: { method: 'DELETE', url: 'https://h.example/orders/{what}' },
      },
    ],
  ),
  mailTool: takes(
    (options) => mail.mailTool(options),
    () => [
      {
        name: 'mail.send',
        description: 'sends mail',
        from: { name: 'The Shop', address: 'shop@shop.example' },
        transport: {
          host: 'h',
          port: 25,
          secure: false,
          requireTLS: true,
          name: 'x',
          auth: { user: 'a', pass: 'b' },
        },
      },
    ],
  ),
  declaredTool: takes(declared.declaredTool as never, () => [declaration(), callables()]),
  declaredTools: takes(declared.declaredTools as never, () => [[declaration()], callables()]),
  sqlTool: takes(
    (options) => sql.sqlTool(options),
    () => [
      {
        name: 'bank.pay',
        description: 'pays',
        input: input(),
        reads: ['db:bank'],
        writes: ['db:bank'],
        database: { connect: () => ({}), placeholders: '?' },
        statements: () => [],
        delivery: 'buffered',
      },
    ],
    { '0.database': PORT },
  ),
  sqlReader: takes(
    (options) => sql.sqlReader(options),
    () => [
      {
        name: 'bank.look',
        description: 'looks',
        input: input(),
        reads: ['db:bank'],
        database: { connect: () => ({}), placeholders: '?' },
        statement: () => ({ text: 'SELECT 1' }),
        sensitive: true,
      },
    ],
    { '0.database': PORT },
  ),
  apiResolver: takes(http.apiResolver as never, () => [{ 'www.h.example': 'h.example' }]),
  readMail: exempt('is the schema of a message, and throws what zod throws'),
  sendMail: exempt('sends over the network; the tool and the notices read its message first'),
  senderAddress: exempt('is given a sender that was read'),
  mailResolver: exempt('is given scopes that the runtime has read'),
  'new BranchFolders': takes(
    (options) => new branches.BranchFolders(options),
    () => [
      {
        root: newFolder(),
        name: 'files',
        exclude: ['.git'],
        env: { PATH: '/bin' },
        outputMax: 10,
        sensitive: true,
      },
    ],
  ),
  'BranchFolders.speculate': exempt(
    'is given a transaction and functions: the runtime’s, and the caller’s own code',
  ),
  'BranchFolders.sweep': exempt('no arguments'),
  counselTool: takes(
    (options) => counsel.counselTool(options),
    () => [
      {
        name: 'counsel.choose',
        description: 'asks',
        sensitive: true,
        ask: () => undefined,
        deadlineMs: 10,
      },
    ],
  ),
  chooseByCounsel: exempt('is given a transaction, and makes a function of what it is given'),
  'new CounselDesk': exempt('no arguments'),
  'CounselDesk.open': exempt('no arguments'),
  'CounselDesk.decide': takes(
    (id, answer) => {
      const desk = new counsel.CounselDesk();
      const asked = { question: 'which?', branches: [{ failed: false as const, summary: 1 }] };
      desk.ask(asked, new AbortController().signal).catch(() => undefined);
      desk.decide(id === 'ID' ? desk.open()[0]!.id : id, answer);
    },
    () => ['ID', { chosen: 0, by: 'human:ada', reason: 'it is' }],
  ),
  apiScope: takes(http.apiScope, ['https://h.example/a']),
  fileTools: takes(
    fileTools as never,
    () => [
      {
        root: newFolder(),
        name: 'files',
        delivery: 'buffered',
        bytesMax: 1_000,
        sensitive: true,
        disk: (disk: unknown) => disk,
      },
    ],
    { '0.disk': PORT },
  ),
  fileResolver: takes(fileResolver as never, () => [newFolder()]),
  fileScope: takes(fileScope as never, () => [newFolder(), 'a/b', true]),
  shellTool: takes(
    shellTool as never,
    () => [
      {
        name: 'make',
        command: ['make', '{what}'],
        input: input(),
        mayBeOptions: ['what'],
        sensitive: true,
        parallel: true,
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
        writes: ['fs:/x'],
        cwd: '/',
        env: { PATH: '/bin' },
        keyVariable: 'ORDER_KEY',
        outputMax: 10,
      },
    ],
    { '0.class': SPEC },
  ),
  browserTools: takes(browser.browserTools as never, () => [
    { ...site(), name: 'browser', textMax: 1_000 },
  ]),
  submitTool: takes(
    (options) => browser.submitTool(options),
    () => [
      {
        ...site(),
        name: 'shop.order',
        description: 'orders',
        input: input(),
        class: order(),
        reads: ['web:shop.example:/a'],
        writes: ['web:shop.example:/b'],
        url: 'https://shop.example/order/{what}',
        fields: () => [],
        button: { css: 'button' },
        done: { css: '#done' },
        refused: { label: 'no' },
        dialogs: 'accept',
        reconcile: { url: 'https://shop.example/effects/{key}', find: () => undefined },
        compensate: { url: 'https://shop.example/cancel/{what}', button: { css: 'button' } },
      },
    ],
    { '0.context': PORT },
  ),
  webScope: takes(browser.webScope, ['https://shop.example/a']),
  launchBrowser: exempt(
    'starts a browser; its options are checked first, in labs/browser/declarations.test.ts',
  ),
  chromiumPath: exempt('no arguments'),
};
