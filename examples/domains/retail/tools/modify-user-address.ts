import { z } from 'zod';
import { type Address, addressShape, type RetailState, type User } from '../schema.ts';
import type { Tool } from './tool.ts';

export type ModifyUserAddress = { user_id: string } & Address;

export const modifyUserAddress: Tool<'profile', ModifyUserAddress> = {
  process: 'profile',
  description: 'Modify the default address of the user.',
  args: z.object({ user_id: z.string(), ...addressShape }),
  check: (state, { user_id }, user) => {
    findUser(state, user, user_id);
  },
  perform: (state, { user_id, ...address }, user) => {
    findUser(state, user, user_id).address = address;
  },
};

/** The user that the agent serves is named once more; another one is not found. */
function findUser({ users }: RetailState, user: string, user_id: string): User {
  const found = user_id === user ? users[user] : undefined;
  if (found === undefined) throw new Error('user not found');
  return found;
}
