// Prisma's own programs, without its binaries, which are not in npm's registry.
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { defineConfig } from "prisma/config";

const parts = new URL(process.env.DATABASE_URL ?? "mysql://nobody@localhost:3306/none");

export default defineConfig({
  experimental: { adapter: true },
  engine: "js",
  schema: "prisma/schema.prisma",
  adapter: async () => new PrismaMariaDb({
    host: parts.hostname, port: Number(parts.port), user: decodeURIComponent(parts.username), password: decodeURIComponent(parts.password), database: parts.pathname.slice(1), connectionLimit: 2,
    allowPublicKeyRetrieval: true,
  }),
});
