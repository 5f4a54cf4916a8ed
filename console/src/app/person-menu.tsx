import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { useState } from 'react';
import { Inert } from '../parts/inert-text.tsx';
import { hasSingleKeys, setSingleKeys } from '../parts/key-switch.ts';
import classes from './person-menu.module.css';

/** The signed-in principal, the colours of the pages, and signing out. */
export default function PersonMenu({ name }: { readonly name: string }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [areKeysOn, setKeysOn] = useState(hasSingleKeys);
  const switchKeys = () => {
    setSingleKeys(!areKeysOn);
    setKeysOn(!areKeysOn);
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <UnstyledButton
          className={classes.name}
          title={visible(name)}
          aria-label={`Account: ${visible(name)}`}
        >
          <Inert>{name}</Inert>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={colorScheme === scheme}
            onClick={() => setColorScheme(scheme)}
          >
            {colorScheme === scheme ? '✓ ' : ''}
            {scheme === 'auto'
              ? 'Colours of the system'
              : `${scheme === 'light' ? 'Light' : 'Dark'} colours`}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={switchKeys}>
          {areKeysOn ? 'Switch single keys off (j, a, r)' : 'Switch single keys on (j, a, r)'}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

async function signOut(): Promise<void> {
  await fetch('/v1/session', { method: 'DELETE' });
  location.assign('/');
}
