import { Button, Group, Modal, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useFocusReturn } from './focus-return.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/**
 * A dialog for more than a question. The keys of the page below do nothing meanwhile. It has no
 * lock of scrolling, which adds a style element that the content security policy refuses.
 */
export function WideDialog({ title, children, onClose }: DialogProps) {
  useFocusReturn();
  useEffect(() => {
    window.addEventListener('keydown', keepFromPage, { capture: true });
    return () => window.removeEventListener('keydown', keepFromPage, { capture: true });
  }, []);
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

/** The keys of fields, which keys of a page ignore. */
const FIELDS: readonly string[] = ['INPUT', 'TEXTAREA', 'SELECT'];

/** A key such as `a` on a button of the dialog must not approve the proposal below it. */
function keepFromPage(event: KeyboardEvent): void {
  const isInField = event.target instanceof HTMLElement && FIELDS.includes(event.target.tagName);
  // The dialog keeps the focus by Tab.
  if (!isInField && event.key !== 'Tab') event.stopPropagation();
}
