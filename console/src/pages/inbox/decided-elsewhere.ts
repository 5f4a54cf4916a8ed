import { useEffect } from 'react';
import type { Card } from '../../api/queries.ts';
import { listen } from '../../app/live.tsx';
import { tell } from '../../parts/tell.tsx';

/** The proposals that this page decided itself. It does not announce their decisions. */
const ownDecisions = new Set<string>();

/** Call before a decision of this page is sent. */
export function isDecidingHere(ids: readonly string[]): void {
  for (const id of ids) ownDecisions.add(id);
}

/** Tells of each shown proposal that is decided elsewhere, and by which person. */
export function useDecidedElsewhere(shown: readonly Card[]): void {
  useEffect(
    () =>
      listen(({ resolves, counselor, ruling }) => {
        const decided = shown.find(({ id }) => id === resolves);
        if (decided === undefined || ownDecisions.has(decided.id)) return;
        const by = typeof counselor === 'string' ? ` by ${counselor}` : '';
        tell(`${decided.title}: ${ruling}${by}`);
      }),
    [shown],
  );
}
