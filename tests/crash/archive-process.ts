// A process that moves the entries of a store to an archive, and then erases texts there:
// `node archive-process.ts <url> <archive> <hashes> <seq>`. It says each segment and each erasure.
import { hashText } from '#canon';
import { logHead } from '#ledger';
import { openStore } from '#stores';
import { say } from './process-output.ts';

const [url, archive, hashes] = process.argv.slice(2) as [string, string, string];
const store = await openStore(url, { archive });
const checkpoint = { origin: 'test', ...(await logHead(store)) };
say('ready');
await store.archiveEntries!({
  checkpoint,
  level: 3,
  onProgress: (entries) => say(`archived ${entries}`),
});
for (const hash of hashes.split(',')) {
  await store.commit({ entries: [], blobs: [], erased: [{ hash, by: hashText(hash) }] });
  await store.scrub?.();
  say(`erased ${hash}`);
}
await store.close();
say('done');
