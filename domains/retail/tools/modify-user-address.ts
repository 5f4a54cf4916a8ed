import { z } from 'zod';
import { type Address, addressShape, type RetailState, type User } from '../schema.ts';
import type { Tool } from './tool.ts';

export type ModifyUserAddress = { user_id: string } & Address;

/** The user is named once more; naming another is refused, because the role's footprint does not have him. */
export const modifyUserAddress: Tool<'profile', ModifyUserAddress> = {
  process: 'profile',
  description: 'Modify the default address of the user.',
  args: z.object({ user_id: z.string(), ...addressShape }),
  check: (state, { user_id }) => {
    findUser(state, user_id);
  },
  perform: (state, { user_id, ...address }) => {
    findUser(state, user_id).address = address;
  },
};

function findUser({ users }: RetailState, user_id: string): User {
  const user = users[user_id];
  if (user === undefined) throw new Error('user not found');
  return user;
}
