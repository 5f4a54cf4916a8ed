import { Anchor, Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOf } from '../../api/client.ts';
import { codeOf } from '../../api/problem.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { BundleButton } from '../../parts/bundle-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './entry-panel.module.css';
import type { EntryDocument } from './entry-query.ts';
import { HashCheck } from './hash-check.tsx';
import { ProofCheck } from './proof-check.tsx';

/** An entry as it is stored, and the proof that the log has it. */
export function EntryRecord({ entry }: { readonly entry: EntryDocument }) {
  const { id, trajectory_id, seq, parent, kind, payload, text } = entry;
  const signature =
    typeof payload === 'string'
      ? undefined
      : (payload.signature as { readonly key?: string } | undefined);
  return (
    <Stack gap="lg">
      <Part title="Hashes">
        <Facts>
          <Fact name="Id">
            <code>{id}</code>
          </Fact>
          <Fact name="Parent">
            {parent === null ? (
              'none: this is the first entry'
            ) : (
              <Anchor
                component={Link}
                href={`${timelineHref(trajectory_id, seq - 1)}?view=record`}
                size="sm"
              >
                <code>{parent}</code>
              </Anchor>
            )}
          </Fact>
          {signature?.key !== undefined && (
            <Fact name="Signed by">
              <code>
                <Inert>{signature.key}</Inert>
              </code>
            </Fact>
          )}
          <Fact name="Check">
            <HashCheck id={id} text={text} />
          </Fact>
        </Facts>
      </Part>
      <Part title="Payload">
        <JsonText value={payload} label="Payload" />
        <Copy text={text} label="Copy the stored text" />
      </Part>
      <Part title="Proof">
        <Proof id={id} text={text} />
      </Part>
      <Part title="Proof bundle">
        <Text size="sm">
          {kind === 'pending_approval'
            ? 'A file with this proposal and its decision, all that they need, and verifiers for them.'
            : 'A file with this entry, all that it needs, and verifiers for it.'}
        </Text>
        <BundleButton
          key={id}
          scope={kind === 'pending_approval' ? { approval: id } : { entry: id }}
        />
      </Part>
    </Stack>
  );
}

function Proof({ id, text: stored }: { readonly id: string; readonly text: string }) {
  const proof = useQuery({
    queryKey: ['proof', id],
    queryFn: () =>
      dataOf(api.GET('/v1/entries/{entry}/proof', { params: { path: { entry: id } } })),
  });
  if (proof.isPending) return <Loading what="the proof" />;
  if (codeOf(proof.error) === 'not_checkpointed')
    return (
      <Text size="sm">
        No signed checkpoint covers this entry yet. An auditor signs one, and then the entry has a
        proof.
      </Text>
    );
  if (proof.data === undefined)
    return <Failed error={proof.error} retry={() => void proof.refetch()} />;
  const { log, key, proof: text } = proof.data;
  return (
    <>
      <Text size="sm">
        The log of the last checkpoint has this entry. The proof verifies without this server.
      </Text>
      <Facts>
        <Fact name="Log">{log}</Fact>
        <Fact name="Key">
          <code>
            <Inert>{key}</Inert>
          </code>
        </Fact>
        <Fact name="Check">
          <ProofCheck text={stored} proof={text} logKey={key} />
        </Fact>
      </Facts>
      <section aria-label="Text of the proof">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a long text */}
        <pre className={classes.proof} tabIndex={0}>
          {text}
        </pre>
      </section>
      <Copy text={text} label="Copy the proof" />
    </>
  );
}

function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Group>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-sm" variant="default" onClick={copy}>
            {copied ? 'Copied' : label}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
