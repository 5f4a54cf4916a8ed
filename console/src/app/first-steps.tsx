import { CloseButton, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { Link, useRoute } from 'wouter';
import { api, dataOf } from '../api/client.ts';
import {
  beginSteps,
  doneStep,
  endSteps,
  onSteps,
  readSteps,
  type Step,
  stepsIn,
} from '../api/first-steps.ts';
import classes from './first-steps.module.css';

const STEPS: readonly { step: Step; name: string; more: string; href: string }[] = [
  { step: 'decide', name: 'Decide', more: 'what waits for you', href: '/inbox' },
  { step: 'why', name: 'See why', more: 'one was refused', href: '/activity?ruling=rejected' },
  { step: 'prove', name: 'Prove', more: 'a decision, as an auditor', href: '/audit' },
];

/** The steps that are done, for a person of whom the ledger has no entry at the first sign-in. */
export function useFirstSteps(principal: string): readonly string[] | undefined {
  const done = stepsIn(useSyncExternalStore(onSteps, readSteps));
  const [hasEntry] = useRoute('/timeline/:trajectory/:seq');
  const { data } = useQuery({
    queryKey: ['first-steps', principal],
    enabled: done === 'unknown',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => dataOf(api.GET('/v1/entries', { params: { query: { principal, limit: '1' } } })),
  });
  useEffect(() => {
    if (data === undefined || done !== 'unknown') return;
    // A page without an end has not searched the whole ledger, so this is not a first one.
    if (data.entries.length === 0 && data.next === undefined) beginSteps();
    else endSteps();
  }, [data, done]);
  useEffect(() => {
    if (hasEntry && typeof done === 'object') doneStep('why');
  }, [hasEntry, done]);
  return typeof done === 'object' ? done : undefined;
}

/** Three steps in one line at the bottom of the window. */
export function FirstSteps({ done }: { readonly done: readonly string[] }) {
  return (
    <nav aria-label="First steps" className={classes.strip}>
      <ol className={classes.steps}>
        {STEPS.map(({ step, name, more, href }) => (
          <li key={step} data-done={done.includes(step) || undefined}>
            <Link href={href}>
              {name}
              <span className={classes.more}> {more}</span>
            </Link>
            {done.includes(step) && (
              <span className={classes.tick}>
                {' '}
                ✓<VisuallyHidden> done</VisuallyHidden>
              </span>
            )}
          </li>
        ))}
      </ol>
      <CloseButton size="sm" aria-label="Dismiss these steps" onClick={endSteps} />
    </nav>
  );
}
