import { Button, Center, Modal, Text } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { SignedOut } from '../parts/states.tsx';
import { Commands } from './commands.tsx';

interface OverlaysProps {
  /** Why the session ended, if it did. */
  readonly ended: Error | undefined;
  readonly again: () => void;
}

/** Parts above a page. Their code loads after the page is shown. */
export default function Overlays({ ended, again }: OverlaysProps) {
  return (
    <>
      <Notifications position="bottom-right" />
      <Commands />
      {ended !== undefined && <EndedSession error={ended} again={again} />}
    </>
  );
}

/** The session ended while a page is open. The page stays below, with the text that was written. */
function EndedSession({ error, again }: { readonly error: Error; readonly again: () => void }) {
  const [said = ''] = error.message.split('. ', 1);
  return (
    // Its scrolling is not locked: that adds a style element, which the page's policy refuses.
    <Modal.Root opened onClose={() => undefined} centered lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={said}>
        <Modal.Body>
          <Text fw={600}>{said}.</Text>
          <SignedOut title="Sign in again in another tab" />
          <Text size="sm" c="dimmed" ta="center" mb="md">
            Nothing was sent, and what you wrote is kept here.
          </Text>
          <Center>
            <Button variant="default" onClick={again}>
              I am signed in again
            </Button>
          </Center>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
