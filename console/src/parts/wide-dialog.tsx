import { Button, Group, Modal, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFocusReturn } from './focus-return.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/**
 * A dialog for more than a question. It does not lock scrolling: a lock adds a style element that
 * the content security policy refuses.
 */
export function WideDialog({ title, children, onClose }: DialogProps) {
  useFocusReturn();
  return (
    <Modal.Root opened onClose={onClose} size="xl" centered lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={title}>
        <Modal.Body>
          <Group justify="space-between" wrap="nowrap" mb="sm">
            <Title order={2} size="h4">
              {title}
            </Title>
            <Button size="xs" variant="subtle" onClick={onClose}>
              Close
            </Button>
          </Group>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
