import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { afterSigning } from '../api/after-signing.ts';
import { type BundleScope, saveBundle } from '../api/bundle.ts';
import { api, dataOf } from '../api/client.ts';
import { codeOf } from '../api/problem.ts';
import { useMe } from '../api/queries.ts';
import { Failed } from './states.tsx';

interface BundleButtonProps {
  /** Undefined: the scope is not complete yet. */
  readonly scope: BundleScope | undefined;
}

/**
 * Makes a proof bundle and saves it. Afterwards it says how to verify the file. If no checkpoint
 * covers the entries, it offers to sign one.
 */
export function BundleButton({ scope }: BundleButtonProps) {
  const make = useMutation({ mutationFn: saveBundle });
  const isUncovered = codeOf(make.error) === 'not_checkpointed';
  return (
    <>
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={scope === undefined}
          loading={make.isPending}
          onClick={() => scope !== undefined && make.mutate(scope)}
        >
          Download the proof bundle
        </Button>
      </Group>
      <div role="status">
        {make.isSuccess && <HowToVerify name={make.data} />}
        {isUncovered && <Uncovered onSigned={() => scope !== undefined && make.mutate(scope)} />}
      </div>
      {make.error !== null && !isUncovered && <Failed error={make.error} />}
    </>
  );
}

function HowToVerify({ name }: { readonly name: string }) {
  return (
    <Text size="sm" mt="xs">
      Saved as <code>{name}</code>. Take <code>verify.html</code> out of it and open that file, also
      without a network. Or run <code>python3 verify.py {name}</code>. Compare the key of the log
      with the one that you have from its operator.
    </Text>
  );
}

/** The remedy for entries that no signed checkpoint covers. */
function Uncovered({ onSigned }: { readonly onSigned: () => void }) {
  const kinds = useMe().data?.kinds ?? [];
  const queries = useQueryClient();
  const sign = useMutation({
    mutationFn: () => dataOf(api.POST('/v1/checkpoints')),
    onSuccess: async () => {
      await afterSigning(queries);
      onSigned();
    },
  });
  if (sign.error !== null) return <Failed error={sign.error} />;
  const maySign = kinds.includes('auditor') || kinds.includes('admin');
  return (
    <Group gap="sm" mt="xs">
      <Text size="sm">
        No signed checkpoint covers this yet.{' '}
        {!maySign && 'An auditor or an administrator signs one.'}
      </Text>
      {maySign && (
        <Button size="compact-sm" loading={sign.isPending} onClick={() => sign.mutate()}>
          Sign a checkpoint and download
        </Button>
      )}
    </Group>
  );
}
