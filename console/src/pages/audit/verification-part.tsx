import { Button, Progress, Text } from '@mantine/core';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { counted } from '../../parts/counted.ts';
import { useRowKeys } from '../../parts/row-keys.ts';
import { Section } from '../../parts/section.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './audit-page.module.css';
import { useVerification, type Verification } from './use-verification.ts';
import { VerifiedRow } from './verified-row.tsx';

/** Verifies all trajectories again, on request. The list fills as the answers come. */
export function VerificationPart() {
  const trajectories = useAllTrajectories();
  const verification = useVerification();
  const list = useRowKeys<HTMLUListElement>();
  const { verified, running, start, stop } = verification;
  return (
    <Section
      title="Verification"
      about="Replays each world from its first entry: hashes, chains, signatures and states."
      actions={
        running === undefined ? (
          <Button
            size="xs"
            disabled={trajectories.data === undefined || trajectories.data.length === 0}
            onClick={() =>
              start(trajectories.data?.map(({ trajectory_id }) => trajectory_id) ?? [])
            }
          >
            Verify now
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={stop}>
            Stop
          </Button>
        )
      }
    >
      <Standing verification={verification} />
      {trajectories.isPending && <Loading what="the worlds" />}
      {trajectories.error !== null && (
        <Failed error={trajectories.error} retry={() => void trajectories.refetch()} />
      )}
      {trajectories.data?.length === 0 && <Text size="sm">The store has no world yet.</Text>}
      <ul className={classes.rows} ref={list} aria-label="Worlds">
        {trajectories.data?.map((trajectory) => (
          <VerifiedRow
            key={trajectory.trajectory_id}
            trajectory={trajectory}
            verified={verified.get(trajectory.trajectory_id)}
            isRunning={running === trajectory.trajectory_id}
          />
        ))}
      </ul>
    </Section>
  );
}

/** How far the verification is, and what it has found. */
function Standing({
  verification: { verified, running },
}: {
  readonly verification: Verification;
}) {
  const all = [...verified.values()];
  const done = all.filter(
    ({ report, error }) => report !== undefined || error !== undefined,
  ).length;
  const faulty = all.filter(({ report }) => report?.valid === false).length;
  const unanswered = all.filter(({ error }) => error !== undefined).length;
  const entries = all.reduce((sum, { report }) => sum + (report?.entries ?? 0), 0);
  const found = [
    ...(faulty > 0 ? [`${faulty} with a fault`] : []),
    ...(unanswered > 0 ? [`${unanswered} without an answer`] : []),
    ...(faulty + unanswered === 0 && done > 0
      ? [done === all.length ? 'all valid' : 'valid so far']
      : []),
  ].join(', ');
  return (
    <div role="status">
      {all.length > 0 && (
        <Text size="sm" fw={600} mb={4}>
          {done} of {counted(all.length, 'world')} verified
          {found !== '' && `: ${found}`}
          {running === undefined &&
            done === all.length &&
            `. ${counted(entries, 'entry', 'entries')}.`}
          {running === undefined && done < all.length && '. Stopped.'}
        </Text>
      )}
      {running !== undefined && (
        <Progress value={(100 * done) / all.length} size="sm" mb={6} aria-label="Verified worlds" />
      )}
    </div>
  );
}
