import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { derivedLogKey } from '#config';
import { formatVerifierKey, signerKey } from '#merkle';
import { WitnessFile, witnessServer } from '#witness';
import { ROOT } from './serving.ts';

/** A running witness, as `server.witnesses` of a configuration names it. */
export interface RunningWitness {
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

/** Starts a witness of the log of the test servers. It stops at the end of the running test. */
export async function startWitness(): Promise<RunningWitness> {
  const signer = signerKey('witness.example', 'cosignature', '07'.repeat(32));
  const log = derivedLogKey(ROOT);
  const file = new WitnessFile(':memory:');
  const logs = [{ origin: log.name, keys: [log] }];
  const server = witnessServer({ logs, signer, file, now: () => 1_800_000_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    file.close();
  };
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, key: formatVerifierKey(signer), stop };
}
