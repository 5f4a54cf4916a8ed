/**
 * A proposing process of `contention.ts`: `node contender.ts STORE ANCHOR WRIT FIRST CALLERS`. It
 * opens the trajectory `t` and prints `ready`. For each number on a line of stdin, its callers
 * propose that many times. It then prints the number of adjudicated proposals, and of runs of the
 * action's code.
 */
import { createInterface } from 'node:readline';
import { Assize, type Domain, defineDomain, openStore, parseWrit } from 'assize';
import { MEMBERS, type Round } from './contention.ts';
import { shop, visit } from './shop.ts';

let adjudications = 0;
const { actions } = shop.declared;
/** The shop, with a count of how often its code runs. */
const counted = defineDomain({
  ...shop.declared,
  actions: {
    visit: {
      ...actions.visit,
      apply: (state, args, context) => {
        adjudications++;
        actions.visit.apply(state, args, context);
      },
    },
  },
});

if (import.meta.main) {
  const [url, anchor, writText, first, callers] = process.argv.slice(2) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const store = await openStore(url);
  const writ = parseWrit(JSON.parse(writText));
  const trajectory = await new Assize({
    store,
    domains: [counted as Domain],
    anchors: [anchor],
  }).open('t');
  let n = Number(first);
  console.log('ready');
  for await (const line of createInterface(process.stdin)) {
    adjudications = 0;
    let left = Number(line);
    let rulings = 0;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const { ruling } = await trajectory.propose({ ...visit(n++, MEMBERS), writ });
        if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
        rulings++;
      }
    };
    await Promise.all(Array.from({ length: Number(callers) }, caller));
    console.log(JSON.stringify({ rulings, adjudications } satisfies Round));
  }
  await store.close();
}
