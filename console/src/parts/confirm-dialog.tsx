import { Alert, Button, Group, Modal, Stack, Textarea, Title } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useFocusReturn } from './focus-return.ts';

interface ConfirmProps {
  readonly title: string;
  /** The word of the button that does it. */
  readonly action: string;
  /** Everything that follows, in words. */
  readonly children: ReactNode;
  readonly needsReason?: boolean;
  /** Default: true. */
  readonly isDangerous?: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: (reason: string) => void;
  readonly onClose: () => void;
}

/**
 * Asks before a change for others, and says what follows. It does not lock scrolling: a lock adds
 * a style element that the content security policy refuses.
 */
export function ConfirmDialog(props: ConfirmProps) {
  const {
    title,
    action,
    children,
    needsReason = false,
    isDangerous = true,
    isPending,
    error,
    onConfirm,
    onClose,
  } = props;
  const [reason, setReason] = useState('');
  useFocusReturn();
  const isReady = !needsReason || reason.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !isPending) onConfirm(reason);
  };
  return (
    <Modal.Root opened onClose={onClose} centered lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={title}>
        <Modal.Body>
          <form onSubmit={submit}>
            <Stack gap="sm">
              <Title order={2} size="h4">
                {title}
              </Title>
              {children}
              {needsReason && (
                <Textarea
                  label="Reason"
                  description="It stays in the ledger."
                  data-autofocus
                  autosize
                  minRows={2}
                  maxRows={6}
                  value={reason}
                  onChange={(event) => setReason(event.currentTarget.value)}
                />
              )}
              {error !== null && (
                <Alert color="red" role="alert">
                  {error.message}
                </Alert>
              )}
              <Group justify="flex-end" gap="xs">
                <Button variant="default" size="sm" onClick={onClose}>
                  Cancel
                </Button>
                <Button
                  {...(isDangerous && { color: 'red.8' })}
                  size="sm"
                  type="submit"
                  disabled={!isReady}
                  loading={isPending}
                >
                  {action}
                </Button>
              </Group>
            </Stack>
          </form>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
