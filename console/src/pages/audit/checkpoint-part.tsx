import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterSigning, CHECKPOINT as KEY } from '../../api/after-signing.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { codeOf } from '../../api/problem.ts';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { counted } from '../../parts/counted.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Section } from '../../parts/section.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './audit-page.module.css';

type Checkpoint = components['schemas']['Checkpoint'];

/** The last checkpoint, and a button that signs a new one. */
export function CheckpointPart({ maySign }: { readonly maySign: boolean }) {
  const queries = useQueryClient();
  const last = useQuery({ queryKey: KEY, queryFn: latest });
  const sign = useMutation({
    mutationFn: () => dataOf(api.POST('/v1/checkpoints')),
    onSuccess: (made) => {
      queries.setQueryData(KEY, made);
      return afterSigning(queries);
    },
  });
  return (
    <Section
      title="Checkpoint"
      about="A signed size and root of the log. An auditor who keeps one finds any later change of the entries before it."
      actions={
        maySign && (
          <Button
            size="xs"
            variant="default"
            onClick={() => sign.mutate()}
            loading={sign.isPending}
          >
            Sign a new checkpoint
          </Button>
        )
      }
    >
      {sign.error !== null && <Failed error={sign.error} />}
      {last.isPending && <Loading what="the checkpoint" />}
      {last.error !== null && <Failed error={last.error} retry={() => void last.refetch()} />}
      {last.data === null && (
        <Text size="sm">
          No checkpoint is signed yet.{' '}
          {maySign ? 'Sign the first one.' : 'An auditor or an administrator signs one.'}
        </Text>
      )}
      {last.data != null && <Shown checkpoint={last.data} />}
    </Section>
  );
}

/** The last checkpoint; null if there is none. */
async function latest(): Promise<Checkpoint | null> {
  try {
    return await dataOf(api.GET('/v1/checkpoints/latest'));
  } catch (error) {
    if (codeOf(error) === 'not_found') return null;
    throw error;
  }
}

function Shown({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const { size, root, origin, key, witnesses, covers_until: until } = checkpoint;
  return (
    <>
      <Facts>
        <Fact name="Size">
          {counted(size, 'entry', 'entries')} <Newer size={size} />
        </Fact>
        {until !== undefined && (
          <Fact name="Last entry">
            <Ago at={until} />{' '}
            <Text span size="sm" c="dimmed">
              {until}
            </Text>
          </Fact>
        )}
        <Fact name="Root">
          <code className="wraps">{root}</code>
        </Fact>
        <Fact name="Signer">
          <Inert>{origin}</Inert>
        </Fact>
        <Fact name="Public key">
          <code className="wraps">{key}</code>
        </Fact>
        <Fact name="Witnesses">
          {witnesses.length === 0
            ? 'none in the configuration of the server'
            : witnesses.map((witness) => <Witness key={witness.key} witness={witness} />)}
        </Fact>
      </Facts>
      <details>
        <summary className={classes.summary}>The signed note</summary>
        <pre className={classes.note}>{checkpoint.checkpoint}</pre>
      </details>
    </>
  );
}

function Witness({
  witness: { name, key, cosigned_at: at },
}: {
  readonly witness: Checkpoint['witnesses'][number];
}) {
  return (
    <div>
      <Inert>{name}</Inert>{' '}
      {at === undefined ? (
        'has not cosigned this checkpoint'
      ) : (
        <>
          cosigned <Ago at={at} />
        </>
      )}{' '}
      <Text span size="xs" c="dimmed" className="wraps">
        {key}
      </Text>
    </div>
  );
}

/** How many entries came after the checkpoint. */
function Newer({ size }: { readonly size: number }) {
  const { data } = useAllTrajectories();
  if (data === undefined) return null;
  const newer = data.reduce((sum, { entries }) => sum + entries, 0) - size;
  return (
    <Text span size="sm" c="dimmed">
      {newer <= 0
        ? '(the whole log)'
        : `(${counted(newer, 'newer entry is', 'newer entries are')} not covered)`}
    </Text>
  );
}
