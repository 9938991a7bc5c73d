-- As Prisma's migrations: quoted CamelCase, TEXT keys, TIMESTAMP(3), arrays of enums, implicit relation tables, maps.
CREATE TYPE "Role" AS ENUM ('USER', 'ADMIN');
CREATE TABLE "User" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "roles" "Role"[] DEFAULT ARRAY['USER']::"Role"[],
    "role" "Role" NOT NULL DEFAULT 'USER',
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "score" DOUBLE PRECISION NOT NULL DEFAULT 0.5,
    "money" DECIMAL(65,30) NOT NULL DEFAULT 0,
    "data" JSONB,
    "bytes" BYTEA,
    CONSTRAINT "User_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "Post" (
    "id" SERIAL NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "published" BOOLEAN NOT NULL DEFAULT false,
    "authorId" TEXT NOT NULL,
    "big" BIGINT,
    CONSTRAINT "Post_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "_PostToTag" ("A" INTEGER NOT NULL, "B" TEXT NOT NULL);
CREATE TABLE "_prisma_migrations" (
    id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
CREATE INDEX "Post_title_idx" ON "Post"("title" DESC);
CREATE UNIQUE INDEX "_PostToTag_AB_unique" ON "_PostToTag"("A", "B");
CREATE INDEX "_PostToTag_B_index" ON "_PostToTag"("B");
ALTER TABLE "Post" ADD CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "_PostToTag" ADD CONSTRAINT "_PostToTag_A_fkey" FOREIGN KEY ("A") REFERENCES "Post"("id") ON DELETE CASCADE ON UPDATE CASCADE;
INSERT INTO "User" ("id", "email", "roles", "createdAt", "updatedAt", "money", "bytes")
    VALUES ('c1', 'a@b.c', '{USER,ADMIN}', '2026-01-01', '2026-01-01 00:00:00.123', 1.5, '\x00ff');
INSERT INTO "Post" ("title", "authorId") VALUES ('one', 'c1'), ('two', 'c1');
