import { expect, onTestFinished, test } from 'vitest';
import { PROTOCOL } from '../protocol/messages.ts';
import { type DriverCommand, DriverProcess } from './driver-process.ts';

const hello = { protocol: PROTOCOL, folder: '/tmp/x', sink: 'http://127.0.0.1:9', settings: {} };

async function started(command: DriverCommand): Promise<DriverProcess> {
  const driver = await DriverProcess.start(command);
  onTestFinished(() => driver.kill());
  return driver;
}

/** A driver that writes this text for each line. */
const answering = (text: string): DriverCommand => [
  process.execPath,
  '-e',
  `process.stdin.on('data', () => process.stdout.write(${JSON.stringify(text)} + '\\n'))`,
];

test('an answer is read by its id, and other lines are not', async () => {
  const identity = { name: 'x', versions: { x: '1' }, cannot: {} };
  const lines = [
    'loading',
    JSON.stringify({ id: 7, answer: {} }),
    JSON.stringify({ id: 1, answer: identity }),
  ];
  const driver = await started(answering(lines.join('\n')));
  expect(await driver.ask('hello', hello, 5_000)).toEqual(identity);
});

test('a driver of Node keeps compiled code in the folder of the suite', async () => {
  const answer = `JSON.stringify({ id: 1, answer: { name: process.env.NODE_COMPILE_CACHE, versions: {} } })`;
  const program = `process.stdin.on('data', () => console.log(${answer}))`;
  const driver = await DriverProcess.start([process.execPath, '-e', program], {
    compileCache: '/tmp/compiled',
  });
  onTestFinished(() => driver.kill());
  const own = process.env['NODE_COMPILE_CACHE'];
  expect(await driver.ask('hello', hello, 5_000)).toMatchObject({ name: own ?? '/tmp/compiled' });
});

test.each([
  ['no JSON', '{"id": 1,'],
  ['no id', '{"answer": {}}'],
  ['no name', '{"id": 1, "answer": {"versions": {}}}'],
  [
    'an unknown ability',
    '{"id": 1, "answer": {"name": "x", "versions": {}, "cannot": {"fly": "no"}}}',
  ],
])('an answer with %s is refused', async (_, text) => {
  const driver = await started(answering(text));
  await expect(driver.ask('hello', hello, 5_000)).rejects.toMatchObject({
    ...{ code: 'bad_answer', evidence: { op: 'hello' } },
  });
});

test('an error of a driver is reported', async () => {
  const driver = await started(answering('{"id": 1, "error": "no such table"}'));
  await expect(driver.ask('hello', hello, 5_000)).rejects.toMatchObject({
    ...{ code: 'function_failed', message: expect.stringContaining('no such table') },
  });
});

test('a driver that ends is reported with its standard error', async () => {
  const driver = await started([
    process.execPath,
    '-e',
    'console.error("no key"); process.exit(3)',
  ]);
  const asked = driver.ask('hello', hello, 5_000);
  await expect(asked).rejects.toMatchObject({
    code: 'driver_ended',
    evidence: { end: 'exit code 3' },
  });
  await expect(driver.ask('hello', hello, 5_000)).rejects.toMatchObject({ code: 'driver_ended' });
});

test('a driver that says nothing is given up after its time', async () => {
  const driver = await started([process.execPath, '-e', 'setInterval(() => undefined, 1000)']);
  await expect(driver.ask('hello', hello, 50)).rejects.toMatchObject({ code: 'driver_silent' });
});

test('a program that is not there cannot be started', async () => {
  await expect(DriverProcess.start(['/no/such/program'])).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('The driver cannot be started'),
  });
});

test('a kill also ends the program behind a shell', async () => {
  const driver = await started(
    `"${process.execPath}" -e 'console.log("{}"); setInterval(() => undefined, 1000)'; true`,
  );
  const asked = driver.ask('hello', hello, 5_000);
  await expect(asked).rejects.toMatchObject({ code: 'bad_answer' });
  await driver.kill();
  await expect(driver.ask('hello', hello, 5_000)).rejects.toMatchObject({
    evidence: { end: 'SIGKILL' },
  });
});
