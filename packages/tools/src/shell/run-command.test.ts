import { expect, onTestFinished, test, vi } from 'vitest';
import { type Command, endGroup, runCommand } from './run-command.ts';

/** Processes of another user, as `sudo` leaves them in the group of a command, can't be ended. */
function refuseToKill(): void {
  const refusal = Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw refusal;
  });
  onTestFinished(() => kill.mockRestore());
}

const commandOf = (script: string): Command => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  outputMax: 100,
});

const NOT_ENDED = { name: 'NoAnswer', why: 'not_ended', message: expect.stringContaining('EPERM') };

test('a command that can’t be killed at its timeout has an unknown outcome', async () => {
  const stop = new AbortController();
  let group = 0;
  const onStart = async (pid: number): Promise<void> => {
    group = pid;
  };
  const running = runCommand({ ...commandOf('sleep 1000'), onStart }, stop.signal);
  await vi.waitFor(() => expect(group).not.toBe(0), { timeout: 300_000 });
  onTestFinished(() => endGroup(group));
  refuseToKill();
  stop.abort();
  await expect(running).rejects.toMatchObject(NOT_ENDED);
});

test('a command that leaves an unkillable process has an unknown outcome', async () => {
  refuseToKill();
  await expect(runCommand(commandOf('true'), new AbortController().signal)).rejects.toMatchObject(
    NOT_ENDED,
  );
});

test('a command held open by an unkillable process has an unknown outcome', async () => {
  refuseToKill();
  const held = runCommand(commandOf('sleep 3 & exit 0'), new AbortController().signal);
  await expect(held).rejects.toMatchObject(NOT_ENDED);
});

test('a group that can’t be ended is not waited for', async () => {
  refuseToKill();
  await expect(endGroup(4_000_000)).rejects.toMatchObject(NOT_ENDED);
});
